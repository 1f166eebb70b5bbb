// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <cstddef>
#include <optional>

namespace qs {

/// Memory that a value keeps, in bytes; nothing where it may change later or cannot be kept.
std::optional<std::size_t> keptBytes(const at::IValue& value);

/// A copy of a value that a kernel may overwrite without declaring it: oneDNN's sums of a
/// convolution and another value go into that value. Copies integers in their layout, since kernels
/// round by it; returns other values as they are.
at::IValue unshared(const at::IValue& value);

} // namespace qs
