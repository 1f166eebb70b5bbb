// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/block/prepare_lists.h"

#include <algorithm>

namespace qs {

Recipe withPrepareName(Recipe recipe, PrepareNames list, const std::string& name, bool listed)
{
    std::vector<std::string>& names = recipe.prepare.*list;
    const auto found = std::find(names.begin(), names.end(), name);
    if (listed && found == names.end())
        names.push_back(name);
    else if (!listed && found != names.end())
        names.erase(found);
    return recipe;
}

Recipe withNotFinite(Recipe recipe, const std::map<std::string, std::string>& seen)
{
    for (const auto& [name, text] : seen)
        recipe.prepare.notFinite[name] = text;
    return recipe;
}

} // namespace qs
