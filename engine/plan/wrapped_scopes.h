// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <vector>

namespace qs {

/// A module, or one method of it, that the recipe shows as one node (`prepare.wrap`). Its own
/// operators, the glue, stay float; the torch.nn modules called inside follow their own
/// rules.
struct WrappedScope
{
    std::string key; ///< as the recipe names it: "head" or "head::post_process"
    std::string path; ///< module path
    std::string function; ///< method, or "" for the whole module
    std::vector<NodeId> glue; ///< in graph order
    std::vector<NodeId> inner; ///< operators of the modules inside, in graph order
    std::vector<std::string> modules; ///< paths of those modules, in order of first use
};

/// A key such as "head::post_process", split into module path and method.
struct WrapKey
{
    std::string path, function;
};
WrapKey splitWrapKey(const std::string& key);

/// The scope of each key, in the order of the keys; a node belongs to the first key that names it.
/// For a function: the nodes that ran while it was active, functions and modules that it calls
/// included (`functionsOfCaller`); if the file records no callers: the nodes whose source line
/// is in it, and those of deeper modules that were traced between two of them. A scope without
/// nodes is listed too.
std::vector<WrappedScope> wrappedScopes(const Graph& graph, const std::vector<std::string>& keys);

/// The functions that the nodes of a module (not of the modules inside) come from, in order.
std::vector<std::string> functionsOf(const Graph& graph, const std::string& path);

} // namespace qs
