// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/train/training.h"
#include "engine/train/training_state.h"

#include <span>
#include <vector>

namespace qs {

/// Learning rates of Adam for the tensors of `TrainingState::learned()`, from their size (the root
/// of the mean square) before the training. The more noise the guard had in step 0 of `points`, the
/// further weights must go; without that point they have the least rate. May throw LibTorch's
/// exceptions.
std::vector<double> usualRates(const TrainingState& state, std::span<const TrainingPoint> points);

} // namespace qs
