// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace qs {

/// Tensors of an archive above this size in bytes are not kept between stages. Each use reads them
/// again, which is fast compared with the use.
inline constexpr std::uint64_t kHeldByUsers = std::uint64_t(32) << 20;

} // namespace qs
