// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/qconfig.h"

namespace qs::observers {

/// PlaceholderObserver of that dtype, static.
ObserverSpec placeholder(DType dtype);
/// torch.ao's `default_weight_observer`: signed, symmetric, one scale a tensor.
ObserverSpec weightPerTensor();
/// FixedQParamsObserver over 0..255.
ObserverSpec fixed(double scale, std::int64_t zeroPoint);

} // namespace qs::observers
