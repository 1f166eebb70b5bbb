// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/lowering/emit/float_kernel.h"
#include "engine/convert/lowering/kernel_matcher.h"

namespace qs {

/// Inserts oneDNN's kernel for a linear or a convolution that gives float
/// (`KernelMode::FloatResult`) before the chain's last operator, and returns it. It reads plain
/// integers: those of the quantized activation that the chain's first operator reads dequantized,
/// and those of its qint8 weight, packed in each run that does not fold constants, since packed
/// ones cannot be stored. Errors (Unsupported) say why the kernel cannot be used here; the draft is
/// then unchanged except for unused nodes.
Result<NodeId> emitPointwiseKernel(GraphEdit& edit, const FloatKernelMatch& match,
                                   const QuantizedValues& values);

} // namespace qs
