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
    NodeId reference; ///< reference form: the quantize node whose integers the kernel must return,
                      ///< or the last operator, whose float results it must return
    bool makesFloat = false;
    NodeId kernel; ///< lowered form: the node
    NodeId origin; ///< the float node (last member of its group)
    std::string target; ///< "quantized.conv2d_relu.new"
    /// The kernel's inputs with the corresponding values of the reference form: results of quantize
    /// nodes or, for a float kernel, float values.
    std::vector<std::pair<ValueRef, ValueRef>> inputs;
    bool ownGrid = false; ///< the result's parameters differ from the quantize node's
};

struct LoweredGraph
{
    GraphPtr graph;
    std::vector<KernelSite> sites; ///< in graph order
    /// Why operators were not lowered. Key: the quantize node after the operator in the reference
    /// form, or the operator itself if its result is float.
    std::unordered_map<NodeId, std::string> reasons;
    bool reduceRange = false; ///< dynamic activations leave one bit free
};

/// Replaces a custom module by kernels (`CustomModule::lower`).
using LowerModule = std::function<Result<NodeId>(ModuleDraft&)>;

/// Inputs of a lowering.
struct LoweringOptions
{
    std::vector<KernelRow> rows; ///< longest pattern first
    std::unordered_map<NodeId, std::string>
        refused; ///< sites (`KernelSite::reference`) whose kernel was wrong, and why
    std::unordered_map<NodeId, NodeId> lastMember; ///< float node to the last member of its group
    /// Operators that the plan quantizes, with whether each is dynamic.
    std::unordered_map<NodeId, bool> quantized;
    /// Statically quantized operators whose result the plan leaves float.
    std::unordered_set<NodeId> floatResults;
    /// Operators that a rule of the recipe keeps float: they may only become kernels that move
    /// values.
    std::unordered_set<NodeId> keptFloat;
    std::unordered_map<NodeId, LowerModule> modules; ///< custom modules (`moduleLowerings`)
    bool reduceRange = false; ///< dynamic activations leave one bit free
};

/// Lowers the reference form to LibTorch's quantized operators (torch.ao
/// `_lower_to_native_backend`): a sequence of dequantize, a row's operators and quantize is
/// replaced by the row's kernel; all other operators stay float between dequantize and quantize.
/// Pure.
Result<LoweredGraph> lowerGraph(const Graph& reference, const LoweringOptions& options,
                                const JobContext& job = {});

} // namespace qs
