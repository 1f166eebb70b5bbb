// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"

#include <set>
#include <string>
#include <vector>

namespace qs {

/// If a backend's pattern names a user's class ("__main__.MyLinear"), gives the class as name to
/// the only computing operator of each module of that class; operators that move its elements
/// become part of it. Returns one line for each such class with a module that no pattern can match
/// because it computes more than one operator, and for each class that no module has if a module
/// has one with a similar name. Classes that fusing creates get no line.
std::vector<std::string> nameOwnModules(const Graph& graph, const Backend& backend,
                                        const std::set<std::string>& listed, OpNames& names);

} // namespace qs
