// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace qs {

/// Larger tensors of an archive, in bytes, are not held between two stages: each use reads them
/// again, which takes little time beside the use.
inline constexpr std::uint64_t kHeldByUsers = std::uint64_t(32) << 20;

} // namespace qs
