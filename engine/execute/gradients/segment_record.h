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
    /// What a node reads and autograd fails for: the node runs on these without being followed.
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

/// Runs the steps without autograd; values go after their last reader, outputs are handed to
/// `output` where they are made. Errors: what the nodes say, a cancel.
Result<void> runPlainly(const Interpreter& interpreter, const GradientSteps& steps, StepRange range,
                        Frame& frame,
                        const std::function<void(ValueRef, const at::IValue&)>& output,
                        const JobContext& job);

/// Runs the steps with autograd, from a frame that holds what they read of earlier ones. Every site
/// is a tensor of its own, so that its gradient is that of its readers alone; what flows back ends
/// with an exception once the job is cancelled (`job` outlives the record). Errors: what the nodes
/// say, a cancel.
Result<SegmentRecord> recordSegment(const Interpreter& interpreter, const GradientSteps& steps,
                                    StepRange range, Frame frame, GradientStops& stops,
                                    const JobContext& job);

} // namespace qs
