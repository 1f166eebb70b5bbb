// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/custom_modules/custom_module.h"

namespace qs {

/// `torch.nn.LSTM` under a static qconfig, after torch.ao's `quantizable.LSTM` and
/// `quantized.LSTM`: the sequence leaves as the last layer's first cell made it, the stacked states
/// as the first layer's did.
CustomModulePtr makeLstmModule();

} // namespace qs
