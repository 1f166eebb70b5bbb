// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/control/subgraph_values.h"

#include "engine/execute/control/higher_order.h"

#include <ATen/core/Tensor.h>

#include <charconv>

namespace qs {

Result<std::size_t> subgraphIndex(const Node& node, const at::IValue& name)
{
    std::size_t index = 0;
    if (name.isString() && name.toStringRef().starts_with(kSubgraphPrefix)) {
        const std::string& text = name.toStringRef();
        const char* end = text.data() + text.size();
        if (std::from_chars(text.data() + kSubgraphPrefix.size(), end, index).ptr == end
            && text.size() > kSubgraphPrefix.size() && index < node.subgraphs.size())
            return index;
    }
    return fail(ErrorCode::BadInput, node.target + " lacks a subgraph");
}

bool isTrue(const at::IValue& value)
{
    return value.isBool() ? value.toBool()
        : value.isInt()   ? value.toInt() != 0
                          : value.toTensor().item().toBool();
}

} // namespace qs
