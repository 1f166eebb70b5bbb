// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// "conv2d" for "aten.conv2d.default"; the target itself where it has no parts.
std::string shortOpName(const std::string& target);

} // namespace qs
