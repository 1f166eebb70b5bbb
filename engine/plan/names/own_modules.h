// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"

#include <set>
#include <string>
#include <vector>

namespace qs {

/// Where a backend's pattern names a class of the user's own ("__main__.MyLinear"), the one
/// operator of each module of that class takes the class for its name; what moves elements around
/// it is inside. Returns one line for each such class with a module that no pattern can match,
/// because it computes more than one operator, or that no module has while one of nearly that name
/// is there. Classes that fusing makes need none.
std::vector<std::string> nameOwnModules(const Graph& graph, const Backend& backend,
                                        const std::set<std::string>& listed, OpNames& names);

} // namespace qs
