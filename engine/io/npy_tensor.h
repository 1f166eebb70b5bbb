// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/io/npz.h"

#include <ATen/core/Tensor.h>

namespace qs {

/// Returns the tensor as an array. float16 and bfloat16 become float32, since NumPy has no
/// bfloat16.
NpyArray npyFromTensor(const std::string& name, const at::Tensor& tensor);

/// Returns a CPU tensor that owns its memory; undefined if LibTorch lacks the element type.
at::Tensor tensorFromNpy(const NpyArray& array);

} // namespace qs
