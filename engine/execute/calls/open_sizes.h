// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace qs {

/// Sizes of a graph's open dimensions, by symbol.
using OpenSizes = std::map<std::string, std::int64_t>;

/// The sizes that a call with these inputs gives.
OpenSizes openSizes(const Graph& graph, const std::vector<at::IValue>& inputs);
/// The sizes of batches of `samples`, the inputs' open first dimensions.
OpenSizes openSizes(const Graph& graph, std::int64_t samples);

} // namespace qs
