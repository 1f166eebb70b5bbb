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

/// Integers of one quantize step of the reference form on the first batch, or indices of a `topk`
/// (a choice).
struct OwnIntegers
{
    std::string node; ///< name of the node; for a choice, of the value
    at::Tensor integers;
    /// Bool, same shape: whether the value is so close to the middle between two steps that the
    /// last bits of a sum decide. Undefined if not known (per-channel or dynamic parameters).
    at::Tensor halfway;
    /// For a choice: its scores and the dimension; else undefined. Runtimes may choose differently
    /// among equal scores (`aten::topk` guarantees no order).
    at::Tensor scores = {};
    std::int64_t dim = 0;
};
/// In the order of the graph.
using NodeIntegers = std::vector<OwnIntegers>;

/// Runs the reference form on `inputs` and returns its integers. May throw c10::Error (call under
/// guardTorch). Errors: those of the run.
Result<NodeIntegers> ownIntegers(const GraphPtr& reference, const std::vector<at::IValue>& inputs,
                                 const JobContext& job);

/// Distance, in steps, from the middle between two steps within which a value may round either way:
/// float sums in another order differ by about 1e-6 of their magnitude.
inline constexpr double kHalfway = 2e-3;

/// The mask of `OwnIntegers::halfway` for values that are quantized with one scale.
at::Tensor halfwayOf(const at::Tensor& values, double scale, double zeroPoint);

} // namespace qs
