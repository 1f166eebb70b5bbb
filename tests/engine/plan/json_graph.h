// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/json_reader.h"
#include "engine/graph/graph.h"

namespace qs {

/// A graph from the plain JSON that export_graph.py writes: nodes with kind, name, target,
/// arguments ({"ref": "name", "index": 0} for values), output types and module. Names must be
/// unique; throws nlohmann's exceptions on anything else.
Graph graphFromJson(const Json& document);

} // namespace qs
