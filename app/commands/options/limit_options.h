// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace CLI {
class App;
}

namespace qs {

/// Limits of a run; 0 = unlimited.
struct RunLimits
{
    std::chrono::milliseconds time {0};
    std::int64_t bytes = 0; ///< of main memory
    /// How long a rank waits for another.
    std::chrono::milliseconds rankTime = std::chrono::minutes(10);
};

/// Adds `--timeout` and `--memory` to every verb that opens or runs a model, and `--rank-timeout`
/// to `kRankVerbs`. Other values than times and amounts are usage errors.
void addLimitOptions(CLI::App& app, RunLimits& limits);

/// Parses a time: "90" and "90s" are seconds, "10m" minutes, "1.5h" hours. Errors: Usage.
Result<std::chrono::milliseconds> parseDuration(std::string_view text);

} // namespace qs
