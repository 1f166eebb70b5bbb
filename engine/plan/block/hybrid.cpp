// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/block/hybrid.h"

#include "engine/base/json/nearest_name.h"
#include "engine/plan/names/op_vocabulary.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

/// The names in the model that rules by object type may use.
std::set<std::string> typesOf(const Graph& graph)
{
    std::set<std::string> types;
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator()) {
            OpName name = opNameOf(*node);
            types.insert(std::move(name.name));
            for (std::string& other : name.others)
                types.insert(std::move(other));
        }
    for (const ModuleEntry* module : graph.modules().inOrder())
        types.insert(canonicalTypeName(module->moduleClass));
    types.erase("");
    return types;
}

} // namespace

Result<Recipe> withHybrid(Recipe recipe, const std::vector<std::string>& names, const Graph& graph)
{
    const std::set<std::string> types = typesOf(graph);
    for (const std::string& name : names) {
        Rule rule;
        rule.key = name;
        if (graph.tryFind(name)) {
            rule.kind = RuleKind::Node;
        } else if (graph.modules().tryGet(name) && !name.empty()) {
            rule.kind = RuleKind::ModuleName;
        } else if (types.contains(canonicalTypeName(name))) {
            rule.kind = RuleKind::ObjectType;
        } else {
            std::vector<std::string> known(types.begin(), types.end());
            for (const NodePtr& node : graph.nodes())
                known.push_back(node->name);
            for (const ModuleEntry* module : graph.modules().inOrder())
                known.push_back(module->path);
            return fail(makeError(ErrorCode::NotFound,
                                  "--hybrid: the model has no node, module or class '" + name + "'")
                            .withHint(suggestName(name, known)));
        }
        recipe.mapping.rules.push_back(std::move(rule));
    }
    return recipe;
}

} // namespace qs
