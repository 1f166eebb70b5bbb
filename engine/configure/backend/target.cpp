// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/backend/target.h"

#include "engine/configure/backend/settings.h"
#include "engine/configure/backend_config.h"

namespace qs {

Result<Recipe> withBackend(Recipe recipe, const std::string& backend)
{
    QS_TRY(const Backend wanted, findBackend(backend));
    const std::string oldPreset = presetOf(recipe.target());
    recipe.backend = backend;
    if (wanted.defaultQConfig.empty())
        return recipe;
    for (auto& rule : recipe.mapping.rules)
        if (rule.kind == RuleKind::Global && rule.qconfig.config && rule.qconfig.name == oldPreset
            && !recipe.qconfigs.count(oldPreset))
            rule.qconfig = {wanted.defaultQConfig, findQConfig(recipe, wanted.defaultQConfig)};
    return recipe;
}

namespace {

constexpr auto kHowToName
    = "name one with \"backend\" in the recipe, in the window with Backend above the graph";

} // namespace

std::string assumedTarget(const Recipe& recipe)
{
    return recipe.namesTarget()
        ? std::string()
        : "no target is specified; using " + recipe.target() + "; " + kHowToName;
}

Result<void> checkTargetNamed(const Recipe& recipe)
{
    if (recipe.namesTarget())
        return {};
    QS_TRY(const Settings settings, readSettings());
    if (!settings.requiresTarget)
        return {};
    return fail(makeError(ErrorCode::BadInput,
                          "the recipe names no target, which this user's settings require")
                    .withHint(kHowToName));
}

std::string globalQConfig(const Recipe& recipe)
{
    std::string name;
    for (const Rule& rule : recipe.mapping.rules)
        if (rule.kind == RuleKind::Global && rule.qconfig.config)
            name = rule.qconfig.name;
    return name;
}

std::string presetOf(const std::string& backend)
{
    if (presetQConfig(backend))
        return backend;
    const auto found = findBackend(backend);
    return found ? found->defaultQConfig : std::string();
}

} // namespace qs
