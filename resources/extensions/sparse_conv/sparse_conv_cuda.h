// SPDX-License-Identifier: Apache-2.0
// Arguments of the CUDA kernels; includes no header of LibTorch.
#pragma once

#include "sparse_conv_elements.h"

namespace sparse_conv {

/// Computes so many elements on the device; `stream` is a cudaStream_t.
void runOnCuda(const FloatElement& element, std::int64_t count, void* stream);
void runOnCuda(const Int8Element<std::int8_t>& element, std::int64_t count, void* stream);
void runOnCuda(const Int8Element<std::uint8_t>& element, std::int64_t count, void* stream);

} // namespace sparse_conv
