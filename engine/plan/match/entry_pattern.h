// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"
#include "engine/graph/match/graph_pattern.h"

namespace qs {

/// A backend's pattern with canonical operator names, from a chain or torch.ao's
/// `pattern_complex_format`. There, "*" (MatchAllNode) matches any value, which becomes a further
/// input of the fused operator. The pattern is empty if the complex format is not supported.
GraphPattern entryPattern(const BackendPattern& entry);

} // namespace qs
