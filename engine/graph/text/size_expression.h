// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/value.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace qs {

/// Whether a size expression may name a symbol so: "s77".
bool isSizeName(const std::string& text);

/// The value of a size expression ("2*s77 + 1", "s0//2", "(s0 + 3) % 4"); nothing for one that
/// cannot be read or names a symbol without a value. Division and remainder round down, as
/// Python's.
std::optional<std::int64_t> evaluateSize(const std::string& expression,
                                         const std::map<std::string, std::int64_t>& symbols);

/// Bytes of a tensor of that type; 0 for what is not a tensor, or of unknown shape or element type.
/// A size that the symbols do not give is the traced one.
std::int64_t tensorBytes(const ValueType& type, const std::map<std::string, std::int64_t>& symbols);

} // namespace qs
