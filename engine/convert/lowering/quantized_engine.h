// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>

namespace qs {

/// Selects the backend's quantized engine for the whole process (x86 for a backend without one):
/// LibTorch packs weights for one engine at a time and runs only that one. Returns whether the
/// engine requires dynamic activations to leave a bit free.
bool selectEngine(const std::string& backend);

/// The engine in use, as torch.backends.quantized.engine spells it: "x86".
std::string currentEngine();

/// The backend whose engine is the only one with an operator of the graph; empty if any engine
/// works.
std::string backendNeededBy(const Graph& converted);

} // namespace qs
