// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace qs {

/// Larger tensors of an archive, in bytes, are not held between two stages: who needs one again
/// reads it again, which is soon done beside what is done with it.
inline constexpr std::uint64_t kHeldByUsers = std::uint64_t(32) << 20;

} // namespace qs
