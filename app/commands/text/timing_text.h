// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/stopwatch.h"
#include "engine/base/json/json_reader.h"
#include "engine/compare/comparison.h"
#include "engine/convert/converted_model.h"

#include <string>
#include <vector>

namespace qs {

/// The inputs of a timing report. Borrows for the call.
struct TimingParts
{
    const StageTimes& stages;
    StageTime whole; ///< time of the stages and of everything between them
    const ConvertedModel& converted; ///< with forms on the model's own inputs
    const Comparison& comparison;
    double samples = 0; ///< samples per batch of the node times
    const Json& document; ///< result.json
    const std::vector<std::string>& files; ///< paths written
};

/// The key `timing` of `quantize --timing --json`: stages, times of one batch by layer
/// (`unitLatencies`) and by node, bytes.
Json timingJson(const TimingParts& parts);

/// Formats `timingJson` for `--timing`: the stages, the slowest layers of the float model and the
/// slowest operators of the lowered form.
std::string timingText(const Json& timing);

} // namespace qs
