// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace qs {

/// Example of an edit's address (`readAddress`) for messages and pages.
inline constexpr std::string_view kAddressExample
    = R"({"module": "layer1.0", "op": "aten.conv2d.default"})";

} // namespace qs
