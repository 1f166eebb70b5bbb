// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/fold_tree.h"

#include <span>
#include <string>
#include <vector>

namespace qs {

/// A parameter, buffer or constant that is shown inside its reader.
struct StoredValue
{
    std::string name; ///< the argument's; the value's if a computation reads it
    NodeId node;
};

/// Returns the stored values inside a unit in the order in which its nodes read them, each once.
std::vector<StoredValue> storedInside(const Graph& graph, const FoldTree& tree,
                                      std::span<const NodeId> members);

} // namespace qs
