// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"
#include "engine/graph/match/graph_pattern.h"

namespace qs {

/// A backend's pattern by the canonical names of its operators, chains and torch.ao's
/// `pattern_complex_format` alike, where "*" (MatchAllNode) stands for any value, which the fused
/// operator then takes as a further input. It asks for no operator where the complex format is not
/// understood.
GraphPattern entryPattern(const BackendPattern& entry);

} // namespace qs
