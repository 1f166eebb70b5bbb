// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <vector>

namespace qs {

/// Names of the model's outputs, flat and in order; "constant" where one is no value of the graph.
std::vector<std::string> outputNames(const Graph& graph);

} // namespace qs
