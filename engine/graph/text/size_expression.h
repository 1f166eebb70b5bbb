// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/value.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace qs {

/// True if the text is a valid symbol of a size expression: "s77".
bool isSizeName(const std::string& text);

/// The value of a size expression ("2*s77 + 1", "s0//2", "(s0 + 3) % 4"); nullopt if it cannot be
/// parsed or uses a symbol without a value. Division and remainder round down, as in Python.
std::optional<std::int64_t> evaluateSize(const std::string& expression,
                                         const std::map<std::string, std::int64_t>& symbols);

/// Returns the bytes of a tensor of that type; 0 if it is not a tensor or its shape or element type
/// is unknown. Sizes that `symbols` does not determine are the traced ones.
std::int64_t tensorBytes(const ValueType& type, const std::map<std::string, std::int64_t>& symbols);

} // namespace qs
