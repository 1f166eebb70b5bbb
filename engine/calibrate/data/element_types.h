// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/dtype.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace qs {

/// What becomes of data whose elements are not of the type that an input takes.
enum class TypeChange
{
    None, ///< it is the type, or the input takes any
    Exact, ///< no value changes; one that would is a misfit
    Rounded, ///< to the nearest value of another floating type
    Refused ///< complex, quantized or 8-bit floating numbers
};

TypeChange typeChange(DType given, DType wanted);

/// The tensor with elements of another type, or the flat index of the first element that the type
/// cannot hold. Rounding alone is no loss, so large values may come out as Inf. `tensor` is dense
/// and on the CPU, and `typeChange` does not refuse it. Uses no thread but the caller's.
struct ChangedTensor
{
    at::Tensor tensor;
    std::optional<std::int64_t> misfit;
};
ChangedTensor changeType(const at::Tensor& tensor, DType wanted);

} // namespace qs
