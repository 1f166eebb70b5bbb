// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <string>
#include <vector>

namespace qs {

/// The memory of a run of a graph, predicted from the shapes.
struct MemoryEstimate
{
    std::int64_t weights = 0; ///< bytes of parameters, buffers and constants
    std::int64_t live = 0; ///< bytes of the values that are needed at once where that is most
    /// Room enough for the whole run: weights, twice the live values (an operator's scratch memory
    /// is about as large as what it reads), and what a device's libraries take.
    std::int64_t needed() const { return weights + 2 * live + (std::int64_t(300) << 20); }
    /// The least memory of the stages from calibration to export on the CPU: the weights, their
    /// integers in two forms, and the live values of the float and the converted model.
    std::int64_t least() const { return weights + weights / 2 + 2 * live; }
};

/// The estimate for these inputs. Views share their tensor's memory; a value whose shape is not
/// known counts nothing.
MemoryEstimate estimateMemory(const Graph& graph, const std::vector<at::IValue>& inputs);

/// The same for batches of `samples`: what the inputs' first dimensions leave open; other open
/// dimensions are as the model was traced.
MemoryEstimate estimateMemory(const Graph& graph, std::int64_t samples);

/// Refuses a run that `freeBytes` of `device` cannot hold. The error (Device) has both figures and,
/// where batches can be smaller, says how small.
Result<void> checkFits(const MemoryEstimate& estimate, std::int64_t freeBytes, std::int64_t samples,
                       const std::string& device);

/// The same on the CPU, for all stages: refuses only impossible runs. `freeBytes`: from
/// `mainMemoryLeft`.
Result<void> checkFitsHere(const MemoryEstimate& estimate, std::int64_t freeBytes,
                           std::int64_t samples);

} // namespace qs
