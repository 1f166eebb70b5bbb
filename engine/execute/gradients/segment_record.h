// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/gradients/gradient_steps.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace qs {

/// Nodes through which no derivative flowed in the runs so far.
struct GradientStops
{
    enum class Kind : std::uint8_t
    {
        Integers, ///< results without a derivative: integers, booleans, numbers
        NoDerivative ///< LibTorch has none for the operator
    };
    std::map<NodeId, Kind> seen;
    /// Operands for which autograd fails: they are detached when the node runs.
    std::map<NodeId, std::set<ValueRef>> unfollowed;
};

/// Consecutive steps that autograd has recorded.
struct SegmentRecord
{
    using Named = std::vector<std::pair<ValueRef, at::Tensor>>;
    Named entries; ///< values made before it, as leaves
    Named made; ///< tensors: sites, outputs, and values that later steps read
    Frame frame; ///< the `segment` of `SeeGradient`
};

/// The steps [from, to).
struct StepRange
{
    std::size_t from = 0, to = 0;
};

/// The values that are alive at a boundary, except those that exist before the first step.
using KeptValues = std::vector<std::pair<ValueRef, at::IValue>>;
/// Nullopt if one of them cannot be passed between segments.
std::optional<KeptValues> keptValues(const Graph& graph, const GradientSteps& steps,
                                     const Frame& frame, std::size_t boundary);

/// A value of floating-point or complex numbers, which may have a gradient.
bool isDifferentiable(const at::IValue& value);

/// Whether `test` is true for the value or a tensor inside it.
bool anyTensor(const at::IValue& value, const std::function<bool(const at::Tensor&)>& test);

/// Runs one node whose arguments are in the frame, and stores its results there; `expendable`
/// values may be overwritten. For callers that compute some nodes themselves.
using RunNode = std::function<Result<void>(const Node& node, Frame& frame,
                                           std::span<const ValueRef> expendable)>;

/// Runs nodes on the interpreter, which must outlive the result.
RunNode runnerOf(const Interpreter& interpreter, const JobContext& job);

/// Runs the steps without autograd; frees values after their last reader and passes outputs to
/// `output` when they are made. Errors: those of the nodes, a cancel.
Result<void> runPlainly(const RunNode& runNode, const GradientSteps& steps, StepRange range,
                        Frame& frame,
                        const std::function<void(ValueRef, const at::IValue&)>& output,
                        const JobContext& job);

/// Runs the steps with autograd, from a frame with the values of earlier steps that they read.
/// Every site becomes a separate tensor, so that its gradient comes only from its readers. The
/// backward pass throws once the job is cancelled (`job` must outlive the record). Errors: those of
/// the nodes; Cancelled.
Result<SegmentRecord> recordSegment(const RunNode& runNode, const GradientSteps& steps,
                                    StepRange range, Frame frame, GradientStops& stops,
                                    const JobContext& job);

} // namespace qs
