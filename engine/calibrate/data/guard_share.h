// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace qs {

/// The usual share of the batches that are the guard: a search or a training only measures on
/// them.
inline constexpr double kGuardShare = 0.25;
/// Whether batch `number`, from 0, is one of them; they are evenly spread.
bool isGuardBatch(std::int64_t number, double share = kGuardShare);
/// The least number of batches of which one is the guard.
std::int64_t batchesForGuard(double share = kGuardShare);

} // namespace qs
