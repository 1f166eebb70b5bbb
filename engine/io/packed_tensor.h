// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/distribute/packed.h"

#include <ATen/core/Tensor.h>

namespace qs {

/// Adds a tensor without quantizer, of any device and strides, as its values; an undefined one too.
void packTensor(Packer& out, const at::Tensor& tensor);

/// Reads such a tensor, on the CPU. Errors (Internal): damaged bytes.
Result<at::Tensor> unpackTensor(Unpacker& in);

} // namespace qs
