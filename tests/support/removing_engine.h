// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"
#include "tests/support/fake_engine.h"

namespace qs {

/// An engine that applies every Remove edit without checking shapes: the operator's readers read
/// its first input.
class RemovingEngine : public FakeEngine
{
public:
    Result<EditedModelPtr> edited(GraphPtr file, const Recipe& recipe,
                                  const JobContext& job) override
    {
        QS_TRY(const EditedModelPtr whole, editModel(file, {}, job));
        auto made = std::make_shared<EditedModel>(*whole);
        GraphEdit edit(*file);
        for (const EditStep& step : recipe.edits) {
            QS_TRY(const NodeId node, whole->addresses->find(step.at));
            const ValueRef* read = edit.get(node).args.front().value.asRef();
            edit.replaceUses({node, 0}, ValueRef(*read));
            edit.erase(node);
            made->outcomes.push_back({{node}, {}});
        }
        made->graph = std::make_shared<const Graph>(edit.build());
        return EditedModelPtr(made);
    }
};

} // namespace qs
