// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/comparison.h"

#include <algorithm>

namespace qs {

const NodeError* Comparison::tryGet(NodeId id) const
{
    const auto it = std::find_if(nodes.begin(), nodes.end(),
                                 [&](const NodeError& error) { return error.node == id; });
    return it == nodes.end() ? nullptr : &*it;
}

} // namespace qs
