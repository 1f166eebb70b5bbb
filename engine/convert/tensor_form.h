// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace qs {

/// The memory layout of a tensor and, if quantized, its parameters: properties other than the
/// values on which a kernel may depend.
struct TensorForm
{
    std::vector<std::int64_t> sizes, strides;
    bool isQuantized = false; ///< per tensor
    double scale = 1;
    std::int64_t zeroPoint = 0;
    at::ScalarType type = at::ScalarType::Undefined; ///< of a quantized one
    friend bool operator==(const TensorForm&, const TensorForm&) = default;
};
TensorForm formOf(const at::Tensor& tensor);

/// The same values in the given form, quantized again if its parameters differ. Returns the tensor
/// unchanged if its shape or type differs, or if it is quantized and the form is not. May throw
/// c10::Error.
at::Tensor inForm(const at::Tensor& tensor, const TensorForm& form);

} // namespace qs
