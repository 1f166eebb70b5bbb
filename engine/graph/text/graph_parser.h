// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <string_view>

namespace qs {

/// Parses the output of `printGraph`. Errors name the line. The graph has no tensor store.
Result<Graph> parseGraph(std::string_view text);

} // namespace qs
