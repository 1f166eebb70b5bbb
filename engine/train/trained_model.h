// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/train/training_state.h"

namespace qs {

/// The float model with the state's tensors. Ranges of fake quantizers are its given observations
/// (`givenObservations`), as of a file exported from torch.ao's prepared model; `observes`: fake
/// quantizers still updated them. Tensors on the CPU.
GraphPtr trainedModel(const TrainingGraph& graph, const TrainingState& state, bool observes);

} // namespace qs
