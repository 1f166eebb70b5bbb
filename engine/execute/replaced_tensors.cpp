// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/replaced_tensors.h"

#include "engine/base/key.h"
#include "engine/graph/graph_edit.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

std::string replacedTensorsBelow(const GraphEdit& edit, const std::vector<ValueRef>& values)
{
    KeyBuilder key("replaced");
    bool isReplaced = false;
    std::vector<ValueRef> open = values;
    std::reverse(open.begin(), open.end());
    std::unordered_set<NodeId> seen;
    while (!open.empty()) {
        const ValueRef value = open.back();
        open.pop_back();
        if (!value || !seen.insert(value.node).second)
            continue;
        const Node& node = edit.get(value.node);
        if (!node.tensorSha256.empty()) {
            key.add(node.name).add(node.tensorSha256);
            isReplaced = true;
        }
        for (const NamedArgument& argument : node.args)
            forEachRef(argument.value, [&](ValueRef ref) { open.push_back(ref); });
    }
    return isReplaced ? key.key() : std::string();
}

} // namespace qs
