// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <cstddef>
#include <optional>

namespace qs {

/// Memory of a value, in bytes; nothing if it may change later or cannot be cached.
std::optional<std::size_t> keptBytes(const at::IValue& value);

/// A copy of a value that a kernel may overwrite without declaring it: oneDNN writes the sum of a
/// convolution and another value into that value. Copies integers in their layout, since rounding
/// in kernels depends on it; returns other values unchanged.
at::IValue unshared(const at::IValue& value);

} // namespace qs
