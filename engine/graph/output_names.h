// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <set>
#include <string>
#include <vector>

namespace qs {

/// Names of the model's outputs, flat and in order, each once (`madeUnique`); "constant" for one
/// that is not a value of the graph.
std::vector<std::string> outputNames(const Graph& graph);

/// Appends a number to names that occur earlier in the list or are `taken`: "y", "y_1".
std::vector<std::string> madeUnique(std::vector<std::string> names, std::set<std::string> taken);

} // namespace qs
