// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace qs {

/// Integers of one quantize of the reference form on the first batch, or a `topk`'s places.
struct OwnIntegers
{
    std::string node; ///< of a choice the name of the value
    at::Tensor integers;
    /// Bool, of its shape: the value lay so close to the middle between two steps that the last
    /// bits of a sum decide. Undefined where that is not known (a step for each channel, steps
    /// that the run itself chooses).
    at::Tensor halfway;
    /// Defined for a choice: its scores, and the dimension. Among equal scores each runtime chooses
    /// its own way (`aten::topk` promises no order).
    at::Tensor scores = {};
    std::int64_t dim = 0;
};
/// In the order of the graph.
using NodeIntegers = std::vector<OwnIntegers>;

/// Those of the reference form, run on `inputs`; may throw c10::Error (call under guardTorch).
/// Errors: those of the run.
Result<NodeIntegers> ownIntegers(const GraphPtr& reference, const std::vector<at::IValue>& inputs,
                                 const JobContext& job);

/// Closer than this to the middle between two steps a value's integer may fall on either side, in
/// steps: float sums in another order differ by some 1e-6 of their size.
inline constexpr double kHalfway = 2e-3;

/// The mask of `OwnIntegers::halfway` for values that are quantized with one scale.
at::Tensor halfwayOf(const at::Tensor& values, double scale, double zeroPoint);

} // namespace qs
