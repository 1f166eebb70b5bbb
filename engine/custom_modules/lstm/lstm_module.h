// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/custom_modules/custom_module.h"

namespace qs {

/// `torch.nn.LSTM` with a static qconfig, following torch.ao's `quantizable.LSTM` and
/// `quantized.LSTM`: the returned sequence has the parameters of the last layer's first cell, the
/// stacked states those of the first layer's.
CustomModulePtr makeLstmModule();

} // namespace qs
