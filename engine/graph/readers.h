// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

namespace qs {

/// True if any output of the node has a consumer.
inline bool hasReaders(const GraphEdit& edit, NodeId id)
{
    for (std::uint32_t i = 0; i < edit.get(id).outputs.size(); ++i)
        if (!edit.users({id, i}).empty())
            return true;
    return false;
}

} // namespace qs
