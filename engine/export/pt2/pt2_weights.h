// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/export/pt2/pt2_arguments.h"

#include <caffe2/serialize/inline_container.h>

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace qs {

/// The tensors of a `.pt2`: parameters and saved buffers under data/weights/, other buffers and
/// constants under data/constants/, each with a record and an entry in the folder's configuration.
/// Use one object per archive. Borrows the graph.
class Pt2WeightRecords
{
public:
    explicit Pt2WeightRecords(const Graph& graph);

    /// The dotted name under which the node's tensor is stored: its path, made unique if nodes
    /// share a path.
    const std::string& path(const Node& node) const { return m_paths.at(node.id); }
    /// Writes records and configurations. Errors: an object that is not a tensor, errors of the
    /// tensor store.
    Result<void> write(caffe2::serialize::PyTorchStreamWriter& archive,
                       const JobContext& job) const;

private:
    const Graph& m_graph;
    std::unordered_map<NodeId, std::string> m_paths;
};

} // namespace qs
