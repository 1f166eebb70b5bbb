// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"

namespace qs {

/// Adds element types and ranks that the file does not record, as observed in a run of the data's
/// first batch. A TorchScript file records none, and inference from its operators cannot determine
/// all. Logs a note with their number. Returns the model unchanged, without a run, if none are
/// missing; also unchanged if the batch adds no type. Errors name the node.
Result<GraphPtr> withObservedTypes(GraphPtr model, const Dataset& data, const JobContext& job);

} // namespace qs
