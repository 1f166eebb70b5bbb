// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/wrapped_scopes.h"

#include "engine/plan/names/op_vocabulary.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

/// The module whose code called the operator: torch.nn's modules, containers included, stand for
/// whoever calls them, as the source lines do.
std::string callerOf(const Graph& graph, const Node& node)
{
    std::string path = node.scope.path;
    for (std::string name = node.scope.moduleClass;
         name.starts_with("torch.nn.") && !path.empty();) {
        path = ModuleTree::parentPath(path);
        const ModuleEntry* module = graph.modules().tryGet(path);
        name = module ? module->moduleClass : std::string();
    }
    return path;
}

/// Made by the forward of a module that is quantized as one operator, or is a step inside one.
bool belongsToModule(const Node& node)
{
    const OpName::Kind kind = opNameOf(node).kind;
    return kind == OpName::Kind::Module || kind == OpName::Kind::Inside;
}

/// Which of the nodes within the module a key means.
std::vector<const Node*> membersOf(const Graph& graph, const WrapKey& key)
{
    std::vector<const Node*> within;
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator() && ModuleTree::isWithin(node->scope.path, key.path))
            within.push_back(node.get());
    if (key.function.empty())
        return within;
    std::vector<const Node*> members, between;
    bool open = false; // the module's own last line so far is of the method
    for (const Node* node : within) {
        const bool isDeeper = callerOf(graph, *node) != key.path;
        if (isDeeper) { // its line names a method of the deeper module
            if (open)
                between.push_back(node);
            continue;
        }
        open = node->source.function == key.function;
        if (open) {
            members.insert(members.end(), between.begin(), between.end());
            members.push_back(node);
        }
        between.clear();
    }
    return members;
}

} // namespace

WrapKey splitWrapKey(const std::string& key)
{
    const auto colons = key.find("::");
    if (colons == std::string::npos)
        return {key, ""};
    return {key.substr(0, colons), key.substr(colons + 2)};
}

std::vector<WrappedScope> wrappedScopes(const Graph& graph, const std::vector<std::string>& keys)
{
    std::vector<WrappedScope> scopes;
    std::unordered_set<NodeId> taken;
    for (const std::string& text : keys) {
        const WrapKey key = splitWrapKey(text);
        WrappedScope scope {text, key.path, key.function, {}, {}, {}};
        for (const Node* node : membersOf(graph, key)) {
            if (!taken.insert(node->id).second)
                continue;
            if (!belongsToModule(*node)) {
                scope.glue.push_back(node->id);
                continue;
            }
            scope.inner.push_back(node->id);
            const std::string& module = node->scope.path;
            if (std::find(scope.modules.begin(), scope.modules.end(), module)
                == scope.modules.end())
                scope.modules.push_back(module);
        }
        scopes.push_back(std::move(scope));
    }
    return scopes;
}

std::vector<std::string> functionsOf(const Graph& graph, const std::string& path)
{
    std::vector<std::string> functions;
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator() && node->scope.path == path && !node->source.function.empty()
            && std::find(functions.begin(), functions.end(), node->source.function)
                == functions.end())
            functions.push_back(node->source.function);
    return functions;
}

} // namespace qs
