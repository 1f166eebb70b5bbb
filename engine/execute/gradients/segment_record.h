// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/gradients/gradient_steps.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace qs {

/// Nodes through which no derivative flows, as runs have shown.
struct GradientStops
{
    enum class Kind : std::uint8_t
    {
        Integers, ///< results without a derivative: integers, booleans, numbers
        NoDerivative ///< LibTorch has none for the operator
    };
    std::map<NodeId, Kind> seen;
    /// Operands that autograd fails for: the node runs on these detached.
    std::map<NodeId, std::set<ValueRef>> unfollowed;
};

/// A stretch of steps that autograd has recorded.
struct SegmentRecord
{
    using Named = std::vector<std::pair<ValueRef, at::Tensor>>;
    Named entries; ///< values made before it, as leaves
    Named made; ///< tensors: sites, outputs, and what later steps read
    Frame frame; ///< as `SeeGradient` gets it
};

/// The steps from `from` up to `to`, which is left out.
struct StepRange
{
    std::size_t from = 0, to = 0;
};

/// A value of floating-point or complex numbers, which may have a gradient.
bool isDifferentiable(const at::IValue& value);

/// Whether the value, or one inside it, is a tensor that `test` holds for.
bool anyTensor(const at::IValue& value, const std::function<bool(const at::Tensor&)>& test);

/// Runs the steps without autograd; frees values after their last reader and passes outputs to
/// `output` when they are made. Errors: those of the nodes, a cancel.
Result<void> runPlainly(const Interpreter& interpreter, const GradientSteps& steps, StepRange range,
                        Frame& frame,
                        const std::function<void(ValueRef, const at::IValue&)>& output,
                        const JobContext& job);

/// Runs the steps with autograd, from a frame that holds the values that they read of earlier ones.
/// Every site is a separate tensor, so that its gradient comes from its readers alone. The backward
/// pass throws once the job is cancelled (`job` must outlive the record). Errors: those of the
/// nodes, a cancel.
Result<SegmentRecord> recordSegment(const Interpreter& interpreter, const GradientSteps& steps,
                                    StepRange range, Frame frame, GradientStops& stops,
                                    const JobContext& job);

} // namespace qs
