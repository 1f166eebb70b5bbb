// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"

namespace qs {

/// Adds element types and ranks that the file does not record, as a run of the data's first batch
/// observes them: a TorchScript file records none, and inference by its operators starts at its
/// inputs. A note gives their number. A model that lacks none is returned unchanged without a run;
/// so is one to which the batch adds no type. Errors name the node.
Result<GraphPtr> withObservedTypes(GraphPtr model, const Dataset& data, const JobContext& job);

} // namespace qs
