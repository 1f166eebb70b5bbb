// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph_edit.h"
#include "engine/import/recompose.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <unordered_map>

namespace qs {

/// The values a file's names stand for, within one graph of the file.
using NameScope = std::unordered_map<std::string, Argument>;

/// Turns the nodes of a file's graph into nodes of a draft. Wrappers that only switch gradients or
/// switch autocast off are inlined; run-time assertions are left out, since inputs are checked when
/// data are opened. Other subgraphs become graphs of their own.
class Pt2GraphReader
{
public:
    explicit Pt2GraphReader(GraphEdit& edit)
        : m_edit(edit)
    {
    }

    /// Reads all nodes of `graph` in order; `names` gives the graph's inputs and receives all its
    /// values.
    Result<void> readNodes(const nlohmann::json& graph, NameScope& names, int depth = 0);

    /// Which call of a function each node read so far belongs to.
    const FunctionCalls& functionCalls() const { return m_calls; }
    /// The type a graph of the file states for one of its values.
    static ValueType typeOf(const nlohmann::json& graph, const std::string& name, ValueKind kind);
    /// Reads an argument; a name nobody declared is an error.
    Result<Argument> argument(const nlohmann::json& value, const NameScope& names) const;

private:
    Result<void> readNode(const nlohmann::json& graph, const nlohmann::json& spec, NameScope& names,
                          int depth);
    Result<bool> inlineWrapper(const nlohmann::json& spec, NameScope& names, int depth);
    Result<void> readArguments(const nlohmann::json& spec, const NameScope& names, Node& node,
                               int depth);
    void readOutputs(const nlohmann::json& graph, const nlohmann::json& spec, Node& node,
                     std::vector<std::string>& fileNames) const;
    void readMetadata(const nlohmann::json& spec, Node& node);
    void noteCall(const nlohmann::json& spec, NodeId id);
    Result<std::shared_ptr<const Graph>> subgraph(const nlohmann::json& graph, int depth);

    GraphEdit& m_edit;
    FunctionCalls m_calls;
};

} // namespace qs
