// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace qs {

/// An address of an edit (`readAddress`), as messages and pages show it.
inline constexpr std::string_view kAddressExample
    = R"({"module": "layer1.0", "op": "aten.conv2d.default"})";

} // namespace qs
