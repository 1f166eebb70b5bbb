// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>

namespace qs {

/// LibTorch packs weights for, and runs, one quantized engine at a time, the whole process: takes
/// the backend's, x86's for a backend without one. Returns whether that engine needs dynamic
/// activations to leave a bit free.
bool selectEngine(const std::string& backend);

/// The engine in use, as torch.backends.quantized.engine spells it: "x86".
std::string currentEngine();

/// The backend whose engine alone has an operator of the graph; empty where any may do.
std::string backendNeededBy(const Graph& converted);

} // namespace qs
