// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

namespace qs {

/// The float model of a file that was trained with simulated quantization (`prepare_qat_fx`, PT2E
/// QAT) and not converted: fake quantizers and their state updates removed; batch norms that are
/// simulated in a layer's weight taken out of it; QAT layers called by their float class.
/// Observations of the fake quantizers stay with the graph's tensors (`givenObservations`). Takes
/// the graph in the form of its file, where operators write in place. Returns the graph itself
/// without fake quantizers. Errors: a range that cannot be read.
Result<GraphPtr> withoutFakeQuantizers(const GraphPtr& graph);

} // namespace qs
