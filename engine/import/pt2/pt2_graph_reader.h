// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph_edit.h"
#include "engine/import/pt2/pt2_file_graph.h"
#include "engine/import/recompose/recompose.h"

#include <string>
#include <string_view>
#include <unordered_map>

namespace qs {

/// Values by name within one graph of the file. Borrows the document.
using NameScope = std::unordered_map<std::string_view, Argument>;

/// Converts the nodes of a file's graph into nodes of a draft. Inlines wrappers that only switch
/// gradients, or switch autocast off. Omits run-time assertions: inputs are checked when data are
/// opened. Other subgraphs become separate graphs.
class Pt2GraphReader
{
public:
    Pt2GraphReader(GraphEdit& edit, const JobContext& job)
        : m_edit(edit)
        , m_job(job)
    {
    }

    /// Reads all nodes of `graph` in order. `names` contains the graph's inputs; all its values are
    /// added.
    Result<void> readNodes(const Pt2FileGraph& graph, NameScope& names, int depth = 0);

    /// Maps each node read so far to the function call that contains it.
    const FunctionCalls& functionCalls() const { return m_calls; }
    /// Reads an argument. Fails for an undeclared name.
    static Result<Argument> argument(JsonView value, const NameScope& names);
    /// Returns the value of that name. Fails if it is undeclared.
    static Result<Argument> valueOf(std::string_view name, const NameScope& names);

private:
    Result<void> readNode(const Pt2FileGraph& graph, const Pt2NodeSpec& spec, NameScope& names,
                          int depth);
    Result<bool> inlineWrapper(const Pt2NodeSpec& spec, NameScope& names, int depth);
    Result<void> readArguments(const Pt2NodeSpec& spec, const NameScope& names, Node& node,
                               int depth);
    void readMetadata(const Pt2NodeSpec& spec, Node& node);
    void noteCall(const Pt2NodeSpec& spec, NodeId id);
    Result<std::shared_ptr<const Graph>> subgraph(const Pt2FileGraph& graph, int depth);

    GraphEdit& m_edit;
    const JobContext& m_job;
    FunctionCalls m_calls;
};

} // namespace qs
