// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace qs {

/// Bits of an element of a storage that a pickle names by its class, "torch\nFloatStorage" (module
/// and name, a line break between them); 0 for an unknown class.
std::uint64_t pickledElementBits(std::string_view global);

} // namespace qs
