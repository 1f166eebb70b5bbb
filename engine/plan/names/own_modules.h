// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"

#include <set>
#include <string>
#include <vector>

namespace qs {

/// If a backend's pattern names a user's class ("__main__.MyLinear"), the one computing operator
/// of each module of that class gets the class as its name; operators that move its elements are
/// part of it. Returns one line for each such class with a module that no pattern can match, since
/// it computes more than one operator, and for each class that no module has but a similar one.
/// Classes that fusing creates get no line.
std::vector<std::string> nameOwnModules(const Graph& graph, const Backend& backend,
                                        const std::set<std::string>& listed, OpNames& names);

} // namespace qs
