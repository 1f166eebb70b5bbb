// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

namespace qs {

/// Restores float layers. QAT multiplies the batch norm's factor into the weight before quantizing
/// it, divides the layer's result by the factor, and then adds the bias. Each such layer gets its
/// original weight and bias; its batch norm follows it as in the float model.
void restoreBatchNorms(GraphEdit& edit);

/// Replaces QAT classes ("torch.ao.nn.intrinsic.qat.modules.conv_fused.ConvBnReLU2d") by the
/// layers' float classes ("torch.nn.Conv2d"); batch norms inside them get their own class.
void restoreClasses(GraphEdit& edit);

} // namespace qs
