// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/prepare/prepared_model.h"

#include <unordered_set>

namespace qs {

/// The part of a prepared model that must run for these observers: without other observers and
/// without nodes that only those or the model's outputs need. A model with custom modules, which
/// hold observers inside, is returned unchanged. Pure.
PreparedPtr partToObserve(const PreparedPtr& prepared,
                          const std::unordered_set<ObserverId>& observers);

} // namespace qs
