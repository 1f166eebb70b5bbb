// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"
#include "engine/configure/backend/lowering_table.h"
#include "engine/graph/graph.h"

#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace qs {

class ModuleDraft;

/// One emitted kernel and its counterpart in the reference form.
struct KernelSite
{
    NodeId reference; ///< reference form: the quantize node whose integers the kernel must make, or
                      ///< the last operator whose float results it must reproduce
    bool makesFloat = false;
    NodeId kernel; ///< lowered form: the node
    NodeId origin; ///< the float node (last member of its group)
    std::string target; ///< "quantized.conv2d_relu.new"
    /// The kernel's inputs and the reference form's values that are the same: results of quantize
    /// nodes, or of a float kernel float values.
    std::vector<std::pair<ValueRef, ValueRef>> inputs;
    bool ownGrid = false; ///< the result's parameters are others than the quantize node's
};

struct LoweredGraph
{
    GraphPtr graph;
    std::vector<KernelSite> sites; ///< in graph order
    /// Why an operator was not lowered: by the quantize node after it in the reference form, or by
    /// itself where its result is float.
    std::unordered_map<NodeId, std::string> reasons;
    bool reduceRange = false; ///< dynamic activations leave one bit free
};

/// Puts kernels in a custom module's place (`CustomModule::lower`).
using LowerModule = std::function<Result<NodeId>(ModuleDraft&)>;

/// Inputs of a lowering.
struct LoweringOptions
{
    std::vector<KernelRow> rows; ///< longest pattern first
    std::unordered_map<NodeId, std::string>
        refused; ///< sites (`KernelSite::reference`) whose kernel was wrong, and why
    std::unordered_map<NodeId, NodeId> lastMember; ///< float node to the last member of its group
    /// Operators that the plan quantizes, and whether dynamically.
    std::unordered_map<NodeId, bool> quantized;
    /// Operators whose result the plan leaves float although they are quantized, statically.
    std::unordered_set<NodeId> floatResults;
    /// Operators that a rule of the recipe keeps float: they never become kernels that compute.
    std::unordered_set<NodeId> keptFloat;
    std::unordered_map<NodeId, LowerModule> modules; ///< custom modules (`moduleLowerings`)
    bool reduceRange = false; ///< dynamic activations leave one bit free
};

/// Reference form to LibTorch's quantized operators (torch.ao `_lower_to_native_backend`): wherever
/// dequantize, a row's operators and quantize follow each other, the row's kernel takes their
/// place; everything else stays float between dequantize and quantize. Pure.
Result<LoweredGraph> lowerGraph(const Graph& reference, const LoweringOptions& options,
                                const JobContext& job = {});

} // namespace qs
