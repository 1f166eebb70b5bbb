// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"

#include <string>
#include <vector>

namespace qs {

/// A backend pattern as the tree of operators it is: the last operator with what flows into it. The
/// same for chains and for torch.ao's `pattern_complex_format`, where "*" (MatchAllNode) stands for
/// any value, which the fused operator then takes as a further input.
struct PatternTree
{
    std::string name; ///< canonical, or "*"
    std::vector<PatternTree> inputs; ///< empty = whatever flows in
    bool any() const { return name == "*"; }
    /// Operators and stars, by which torch.ao sorts patterns: the longest is tried first.
    std::size_t size() const;
};

/// The tree of an entry's pattern; its name is empty where the complex format is not understood.
PatternTree patternTree(const BackendPattern& entry);

} // namespace qs
