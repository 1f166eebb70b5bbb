// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <vector>

namespace qs {

/// What a model brings along that quantization after training does not want, one line each with the
/// modules it is about: operators left in training mode (bodies of subgraphs included), and modules
/// that were made for eager-mode quantization.
void warnOfModel(const Graph& graph, std::vector<std::string>& warnings);

} // namespace qs
