// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/target.h"

#include "engine/configure/backend_config.h"

namespace qs {

Result<Recipe> withBackend(Recipe recipe, const std::string& backend)
{
    QS_TRY(const Backend wanted, findBackend(backend));
    const auto old = findBackend(recipe.backend);
    const std::string oldPreset = old ? old->defaultQConfig : recipe.backend;
    recipe.backend = backend;
    if (wanted.defaultQConfig.empty())
        return recipe;
    for (auto& rule : recipe.mapping.rules)
        if (rule.kind == RuleKind::Global && rule.qconfig.config && rule.qconfig.name == oldPreset
            && !recipe.qconfigs.count(oldPreset))
            rule.qconfig = {wanted.defaultQConfig, findQConfig(recipe, wanted.defaultQConfig)};
    return recipe;
}

std::string presetOf(const std::string& backend)
{
    if (presetQConfig(backend))
        return backend;
    const auto found = findBackend(backend);
    return found ? found->defaultQConfig : std::string();
}

} // namespace qs
