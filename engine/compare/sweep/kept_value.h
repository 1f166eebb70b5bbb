// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <cstddef>
#include <optional>

namespace qs {

/// Memory that a value keeps, in bytes; nothing where it may change later or cannot be kept.
std::optional<std::size_t> keptBytes(const at::IValue& value);

/// The value by itself where a kernel may write into it unsaid: oneDNN's sums of a convolution and
/// another value go into that value. Integers get memory of their own, in the layout that they
/// have, by which kernels round; all else is as it was.
at::IValue unshared(const at::IValue& value);

} // namespace qs
