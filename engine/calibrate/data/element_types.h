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
    None, ///< it is the type, or the input takes any
    Exact, ///< no value changes; one that would is a misfit
    Rounded, ///< to the nearest value of another floating type
    Refused ///< complex, quantized or 8-bit floating numbers
};

TypeChange typeChange(DType given, DType wanted);

/// The tensor with elements of another type, or the flat index of the first element that the type
/// cannot hold. Rounding is allowed, so large values may come out as Inf. `tensor` is dense and on
/// the CPU, and `typeChange` does not refuse it. Runs on the caller's thread only.
struct ChangedTensor
{
    at::Tensor tensor;
    std::optional<std::int64_t> misfit;
};
ChangedTensor changeType(const at::Tensor& tensor, DType wanted);

} // namespace qs
