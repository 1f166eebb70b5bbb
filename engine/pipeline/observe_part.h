// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/prepare/prepared_model.h"

#include <unordered_set>

namespace qs {

/// The part of a prepared model that has to run for these observers to see their values: the others
/// are taken out, and so is what only they or the model's outputs need. A model with custom
/// modules, whose observers stand inside, comes back whole. Pure.
PreparedPtr partToObserve(const PreparedPtr& prepared,
                          const std::unordered_set<ObserverId>& observers);

} // namespace qs
