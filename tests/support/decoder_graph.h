// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

namespace qs {

/// A decoder like a language model's: `layers` blocks of attention with rotary positions and a
/// gated feed-forward network, 52 nodes each with its 9 parameters. Every layer reads the same
/// three tables: cosines, sines and the mask. Full module scopes, shapes and names.
GraphPtr decoderGraph(int layers);

} // namespace qs
