// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/match/pattern_tree.h"

#include "engine/configure/json/json_reader.h"
#include "engine/plan/names/op_vocabulary.h"

namespace qs {

namespace {

PatternTree treeOf(const Json& json)
{
    PatternTree tree;
    if (json.is_string()) {
        const std::string& name = json.get_ref<const std::string&>();
        tree.name = name == "*" ? name : canonicalTypeName(name);
    } else if (json.is_array() && !json.empty()) {
        tree = treeOf(json[0]);
        // [ReLU, [add, Conv2d, "*"]]: the first names the operator, the others what flows in.
        for (std::size_t i = 1; i < json.size(); ++i)
            tree.inputs.push_back(treeOf(json[i]));
    }
    return tree;
}

} // namespace

std::size_t PatternTree::size() const
{
    std::size_t count = 1;
    for (const PatternTree& input : inputs)
        count += input.size();
    return count;
}

PatternTree patternTree(const BackendPattern& entry)
{
    if (!entry.complexFormat.empty())
        return treeOf(Json::parse(entry.complexFormat, nullptr, false));
    PatternTree tree;
    for (const std::string& name : entry.pattern) {
        PatternTree next {canonicalTypeName(name), {}};
        if (!tree.name.empty())
            next.inputs.push_back(std::move(tree));
        tree = std::move(next);
    }
    return tree;
}

} // namespace qs
