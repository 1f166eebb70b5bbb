// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace qs {

/// The layout of a tensor in memory and, if quantized, its parameters: properties beside the values
/// that a kernel may depend on.
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

/// The same values in that form, quantized anew where its parameters are others. A tensor of
/// another shape or type, and one that is quantized where the form is not, is returned as it is.
/// May throw c10::Error.
at::Tensor inForm(const at::Tensor& tensor, const TensorForm& form);

} // namespace qs
