// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace qs {

class Dataset;

/// What the model reads of one sample at one input. A value.
struct SampleInput
{
    /// Most values of a sample.
    static constexpr std::int64_t kMostValues = std::int64_t(1) << 22;

    std::int64_t sample = 0;
    std::string name; ///< of the input
    std::vector<std::int64_t> shape; ///< without the batch dimension
    std::vector<float> values; ///< in C order; the first `kMostValues` of them
};

/// Reads samples of the data, in the order of the request: of each, the first input with one row a
/// sample, floating point before whole numbers. `names`: of the inputs. Reads only the batches that
/// it needs. Errors: the data's; a sample that they do not have; no such input.
Result<std::vector<SampleInput>> sampleInputs(const Dataset& data,
                                              const std::vector<std::string>& names,
                                              const std::vector<std::int64_t>& samples,
                                              const JobContext& job = {});

} // namespace qs
