// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/graph.h"

#include <string>
#include <vector>

namespace qs {

/// The name of the function that a line of Python stands in, by its indentation; "" outside of any.
std::string functionAround(const std::vector<std::string>& lines, std::size_t row);

/// The function as `prepare.wrap` names it ("head::post_process"; a module's forward is the
/// module), of the module of `near` where that one called it; "" where it made no operator of the
/// model.
std::string wrapKeyOf(const Graph& graph, const std::string& file, const std::string& function,
                      NodeId near);

} // namespace qs
