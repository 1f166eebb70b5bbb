// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/lowering/emit/float_kernel.h"
#include "engine/convert/lowering/kernel_matcher.h"

namespace qs {

/// Inserts oneDNN's kernel for a linear or a convolution with a float result
/// (`KernelMode::FloatResult`) before the chain's last operator, and returns its node. It reads
/// plain integers: those of the quantized activation that the chain's first operator reads
/// dequantized, and those of its qint8 weight. The weight is packed at every run unless constants
/// are folded, because packed weights cannot be stored. Errors (Unsupported) say why the kernel
/// cannot be used here; the draft is then unchanged except for unused nodes.
Result<NodeId> emitPointwiseKernel(GraphEdit& edit, const FloatKernelMatch& match,
                                   const QuantizedValues& values);

} // namespace qs
