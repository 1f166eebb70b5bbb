// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace qs {

/// Returns the bits per element of a storage class named in a pickle: "torch\nFloatStorage"
/// (module, line break, name); 0 for an unknown class.
std::uint64_t pickledElementBits(std::string_view global);

} // namespace qs
