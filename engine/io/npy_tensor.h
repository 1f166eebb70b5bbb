// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/io/npz.h"

#include <ATen/core/Tensor.h>

namespace qs {

/// The tensor as an array. Half precisions, which NumPy does not have all of, become float32.
NpyArray npyFromTensor(const std::string& name, const at::Tensor& tensor);

/// A CPU tensor that owns its memory; undefined if LibTorch has no such element type.
at::Tensor tensorFromNpy(const NpyArray& array);

} // namespace qs
