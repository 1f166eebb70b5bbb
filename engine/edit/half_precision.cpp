// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/half_precision.h"

#include <algorithm>

namespace qs {

bool isHalfPrecision(DType dtype)
{
    return dtype == DType::Float16 || dtype == DType::BFloat16;
}

bool holdsHalfPrecision(const Graph& graph)
{
    const auto nodes = graph.nodes();
    return std::any_of(nodes.begin(), nodes.end(), [](const NodePtr& node) {
        if ((!node->isStored() && node->kind != NodeKind::Input) || node->outputs.empty())
            return false;
        return isHalfPrecision(node->outputs.front().type.dtype);
    });
}

std::vector<EditStep> withFloat32(std::vector<EditStep> edits)
{
    const bool isThere = std::any_of(edits.begin(), edits.end(), [](const EditStep& step) {
        return step.kind == EditKind::AsFloat32;
    });
    if (isThere)
        return edits;
    EditStep step;
    step.kind = EditKind::AsFloat32;
    edits.insert(edits.begin(), std::move(step));
    return edits;
}

} // namespace qs
