// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observed_types.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/fill_shapes.h"

namespace qs {

Result<GraphPtr> withObservedTypes(GraphPtr model, const Dataset& data, const JobContext& job)
{
    const std::size_t before = countUntyped(*model);
    if (before == 0)
        return model;
    QS_TRY(const Batch first, data.batch(0));
    QS_TRY(const GraphPtr typed, guardTorchValue<GraphPtr>([&]() -> Result<GraphPtr> {
               const InferenceScope inference;
               QS_TRY(Graph graph, withTypes(model, first.inputs, job));
               return std::make_shared<const Graph>(std::move(graph));
           }));
    const std::size_t told = before - countUntyped(*typed);
    if (told == 0) // the rest is of branches that are not taken
        return model;
    note("the file does not tell the element types of " + counted(told, "value")
         + ": they are those of the first batch");
    return typed;
}

} // namespace qs
