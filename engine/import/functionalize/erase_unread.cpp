// SPDX-License-Identifier: Apache-2.0
#include "engine/import/functionalize/erase_unread.h"

#include "engine/graph/operators/effects.h"
#include "engine/graph/readers.h"
#include "engine/import/functionalize/alias_analysis.h"

namespace qs {

void eraseUnread(GraphEdit& edit)
{
    const auto order = edit.order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
        const Node& node = edit.get(*it);
        if (node.kind != NodeKind::Op || hasEffect(node))
            continue;
        if (!hasReaders(edit, node.id) && writtenArguments(node).empty())
            edit.erase(*it);
    }
}

} // namespace qs
