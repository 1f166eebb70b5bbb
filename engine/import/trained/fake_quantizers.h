// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// Returns the float model of an unconverted QAT model (`prepare_qat_fx`, PT2E QAT). Removes fake
/// quantizers and their state updates, separates batch norms simulated in a layer's weight, and
/// renames QAT layers to their float classes. The fake quantizers' observations are kept with the
/// graph's tensors (`givenObservations`). Expects the graph as read from the file, with in-place
/// operators. Returns `graph` itself if it has no fake quantizers. Fails if a range cannot be read.
Result<GraphPtr> withoutFakeQuantizers(const GraphPtr& graph);

} // namespace qs
