// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"

namespace qs {

/// The model with the element types and ranks that running the data's first batch shows, where its
/// file does not tell them: a TorchScript file tells none, and what follows from its operators
/// starts at its inputs. A note says how many. A model that tells all is returned as it is and
/// nothing runs; one of which the batch tells no more is returned as it is. Errors name the node.
Result<GraphPtr> withObservedTypes(GraphPtr model, const Dataset& data, const JobContext& job);

} // namespace qs
