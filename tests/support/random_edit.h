// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/edit/edited_model.h"

#include <array>
#include <random>

namespace qs {

/// Returns an edit that clamps, removes, renames or makes an output of a random operator of the
/// file, which an earlier edit may have removed. `number`: part of the added name.
inline EditStep randomEdit(const EditedModel& model, std::mt19937& random, int number)
{
    std::vector<const Node*> operators;
    for (const NodePtr& node : model.file->nodes())
        if (node->isOperator())
            operators.push_back(node.get());
    static constexpr std::array kKinds {EditKind::Insert, EditKind::Remove, EditKind::Rename,
                                        EditKind::AddOutput};
    EditStep step;
    step.at = model.addresses->of({operators[random() % operators.size()]->id, 0});
    step.kind = kKinds[random() % kKinds.size()];
    step.op = "aten.clamp.default";
    step.json = R"({"min":-2,"max":2})";
    step.name = "edit" + std::to_string(number);
    return step;
}

} // namespace qs
