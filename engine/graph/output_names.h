// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <set>
#include <string>
#include <vector>

namespace qs {

/// Returns the names of the model's flattened outputs in order, made unique (`madeUnique`);
/// "constant" for an output that is not a value of the graph.
std::vector<std::string> outputNames(const Graph& graph);

/// Appends a number to each name that occurs earlier in the list or in `taken`: "y", "y_1".
std::vector<std::string> madeUnique(std::vector<std::string> names, std::set<std::string> taken);

} // namespace qs
