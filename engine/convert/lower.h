// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/convert/lowering_table.h"
#include "engine/graph/graph.h"

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace qs {

/// One emitted kernel and what it stands for in the reference form.
struct KernelSite
{
    NodeId quantize; ///< reference form: the quantize node whose integers the kernel must make
    NodeId kernel; ///< lowered form: the node
    NodeId origin; ///< the float node (last member of its group)
    std::string target; ///< "quantized.conv2d_relu.new"
    /// The kernel's quantized inputs and the reference form's quantize nodes that make the same.
    std::vector<std::pair<ValueRef, NodeId>> inputs;
};

struct LoweredGraph
{
    GraphPtr graph;
    std::vector<KernelSite> sites; ///< in graph order
    /// Why the operator before a quantize node of the reference form was not lowered.
    std::unordered_map<NodeId, std::string> reasons;
};

/// What a lowering may use.
struct LoweringOptions
{
    std::vector<KernelRow> rows; ///< longest pattern first
    std::unordered_map<NodeId, std::string>
        refused; ///< quantize nodes whose kernel was wrong, and why
    std::unordered_map<NodeId, NodeId> lastMember; ///< float node to the last member of its group
};

/// Reference form to LibTorch's quantized operators (torch.ao `_lower_to_native_backend`): wherever
/// dequantize, a row's operators and quantize follow each other, the row's kernel takes their
/// place; everything else stays float between dequantize and quantize. Pure.
Result<LoweredGraph> lowerGraph(const Graph& reference, const LoweringOptions& options,
                                const JobContext& job = {});

} // namespace qs
