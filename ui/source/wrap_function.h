// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <vector>

namespace qs {

/// Returns the name of the function around a line of Python, by indentation; "" outside of
/// functions.
std::string functionAround(const std::vector<std::string>& lines, std::size_t row);

/// Returns the function's name for `prepare.wrap`: "head::post_process"; for `forward` the module.
/// If several modules called it, prefers the module of `near`. "" if it made no operator of the
/// model.
std::string wrapKeyOf(const Graph& graph, const std::string& file, const std::string& function,
                      NodeId near);

} // namespace qs
