// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/block/prepare_lists.h"

#include "engine/plan/block/prepare_block.h"

#include <algorithm>

namespace qs {

namespace {

Json blockOf(const Recipe& recipe)
{
    const auto block = readPrepareBlock(recipe);
    return block ? block->prepare : Json::object();
}

} // namespace

std::vector<std::string> prepareList(const Recipe& recipe, const std::string& key)
{
    std::vector<std::string> names;
    const Json block = blockOf(recipe);
    if (block.contains(key) && block[key].is_array())
        for (const Json& name : block[key])
            if (name.is_string())
                names.push_back(name.get<std::string>());
    return names;
}

Recipe withPrepareList(Recipe recipe, const std::string& key, const std::vector<std::string>& names)
{
    Json block = blockOf(recipe);
    if (names.empty())
        block.erase(key);
    else
        block[key] = names;
    recipe.prepareJson = block.dump();
    return recipe;
}

Recipe withPrepareName(Recipe recipe, const std::string& key, const std::string& name, bool listed)
{
    std::vector<std::string> names = prepareList(recipe, key);
    const auto found = std::find(names.begin(), names.end(), name);
    if (listed == (found != names.end()))
        return recipe;
    if (listed)
        names.push_back(name);
    else
        names.erase(found);
    return withPrepareList(std::move(recipe), key, names);
}

Recipe withNotFinite(Recipe recipe, const std::map<std::string, std::string>& seen)
{
    Json block = blockOf(recipe);
    for (const auto& [name, text] : seen)
        block["not_finite"][name] = text;
    recipe.prepareJson = block.dump();
    return recipe;
}

} // namespace qs
