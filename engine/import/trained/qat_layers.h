// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

namespace qs {

/// Layers as the float model had them: in training, a batch norm's factor is multiplied into the
/// weight that is quantized and divided out of the layer's result, and the bias is added after
/// that. Each such layer gets its own weight and bias back; its batch norm follows it as before.
void restoreBatchNorms(GraphEdit& edit);

/// Gives layers of QAT classes ("torch.ao.nn.intrinsic.qat.modules.conv_fused.ConvBnReLU2d") the
/// class that they were made of ("torch.nn.Conv2d"), and batch norms within them theirs.
void restoreClasses(GraphEdit& edit);

} // namespace qs
