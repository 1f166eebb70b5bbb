// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// Returns the decoder of a language model: `layers` blocks of attention with rotary positions and
/// a gated feed-forward network, each with 52 nodes including 9 parameters. All layers read the
/// same three tables: cosines, sines and the mask. Module scopes, shapes and names are complete.
GraphPtr decoderGraph(int layers);

} // namespace qs
