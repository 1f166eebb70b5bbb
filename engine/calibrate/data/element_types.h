// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/dtype.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace qs {

/// The conversion of data to an input's element type.
enum class TypeChange
{
    None, ///< same type, or the input accepts any
    Exact, ///< values must not change; one that would is an error
    Rounded, ///< to the nearest value of another floating-point type
    Refused ///< complex, quantized or 8-bit floating-point types
};

TypeChange typeChange(DType given, DType wanted);

/// The tensor converted to another type, or the flat index of the first element that the type
/// cannot represent. Rounding is allowed, so large values may become Inf. Requires a dense `tensor`
/// on the CPU that `typeChange` does not refuse. Thread: the caller's only.
struct ChangedTensor
{
    at::Tensor tensor;
    std::optional<std::int64_t> misfit;
};
ChangedTensor changeType(const at::Tensor& tensor, DType wanted);

} // namespace qs
