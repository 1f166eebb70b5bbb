// SPDX-License-Identifier: Apache-2.0
// C++17: included by .cu files.
#pragma once

namespace qs::kernels {

/// A CUDA stream as an opaque handle (cudaStream_t); null is the default stream. The CPU path
/// ignores it.
using Stream = void*;

} // namespace qs::kernels
