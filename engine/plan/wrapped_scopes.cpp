// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/wrapped_scopes.h"

#include "engine/graph/source_frames.h"
#include "engine/plan/names/op_vocabulary.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace qs {

namespace {

/// The module whose code called the operator. For a module of torch.nn, containers included, that
/// is its caller, as for source lines.
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

/// Number of the user's modules between the module and the operator's source line: 0 if the line is
/// in the module's code; empty if the module did not call it.
std::optional<std::size_t> depthBelow(const Graph& graph, const Node& node, const std::string& path)
{
    std::string caller = callerOf(graph, node);
    for (std::size_t depth = 0;; ++depth) {
        if (caller == path)
            return depth;
        if (caller.empty())
            return std::nullopt;
        caller = ModuleTree::parentPath(caller);
        const ModuleEntry* module = graph.modules().tryGet(caller);
        while (module && module->moduleClass.starts_with("torch.nn.") && !caller.empty()) {
            caller = ModuleTree::parentPath(caller);
            module = graph.modules().tryGet(caller);
        }
    }
}

/// Whether an operator is the forward of a module that is quantized as one operator, or a step in
/// it.
bool belongsToModule(const Node& node)
{
    const OpName::Kind kind = opNameOf(node).kind;
    return kind == OpName::Kind::Module || kind == OpName::Kind::Inside;
}

/// The nodes inside the module to which a key refers.
std::vector<const Node*> membersOf(const Graph& graph, const WrapKey& key)
{
    std::vector<const Node*> within;
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator() && ModuleTree::isWithin(node->scope.path, key.path))
            within.push_back(node.get());
    if (key.function.empty())
        return within;
    std::vector<const Node*> members, between;
    bool open = false; // the module's own last line so far is of the function
    for (const Node* node : within) {
        const std::optional<std::size_t> depth = depthBelow(graph, *node, key.path);
        const std::vector<std::string> functions
            = functionsOfCaller(node->source, depth.value_or(0));
        const bool isCalled = depth
            && std::find(functions.begin(), functions.end(), key.function) != functions.end();
        if (!isCalled && depth != std::size_t(0)) { // the file may record no callers
            if (open)
                between.push_back(node);
            continue;
        }
        open = isCalled;
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
    for (const NodePtr& node : graph.nodes()) {
        if (!node->isOperator() || node->scope.path != path || node->source.function.empty())
            continue;
        std::vector<std::string> own = functionsOfCaller(node->source, 0);
        if (own.size() > 1)
            own.pop_back(); // forward, which calls them
        for (std::string& function : own)
            if (std::find(functions.begin(), functions.end(), function) == functions.end())
                functions.push_back(std::move(function));
    }
    return functions;
}

} // namespace qs
