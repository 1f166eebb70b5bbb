// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>

namespace qs {

/// Selects the backend's quantized engine for the whole process, x86's for a backend without one:
/// LibTorch packs weights for, and runs, one engine at a time. Returns whether that engine needs
/// dynamic activations to leave a bit free.
bool selectEngine(const std::string& backend);

/// The engine in use, as torch.backends.quantized.engine spells it: "x86".
std::string currentEngine();

/// The backend whose engine alone has an operator of the graph; empty if any engine will do.
std::string backendNeededBy(const Graph& converted);

} // namespace qs
