// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observed_types.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/fill_shapes.h"

#include <algorithm>

namespace qs {

namespace {

/// Adds a hint about float64 data: it is NumPy's default, and a model without recorded types
/// accepts it.
Error aboutWideData(Error error, const Graph& model, const Batch& first)
{
    const std::vector<const Node*> inputs = model.inputs();
    for (std::size_t i = 0; i < std::min(inputs.size(), first.inputs.size()); ++i) {
        const at::IValue& given = first.inputs[i];
        if (inputs[i]->outputs.at(0).type.isUntyped() && given.isTensor()
            && given.toTensor().scalar_type() == at::kDouble)
            return std::move(error).withHint("input '" + inputs[i]->name
                                             + "' is given float64, which most models do not "
                                               "take: convert the data to float32");
    }
    return error;
}

} // namespace

Result<GraphPtr> withObservedTypes(GraphPtr model, const Dataset& data, const JobContext& job)
{
    const std::size_t before = countUntyped(*model);
    if (before == 0)
        return model;
    QS_TRY(const Batch first, data.batch(0));
    job.report("plan", "element types of the first batch", 0);
    auto typed = guardTorchValue<GraphPtr>([&]() -> Result<GraphPtr> {
        const InferenceScope inference;
        QS_TRY(Graph graph, withTypes(model, first.inputs, job));
        return std::make_shared<const Graph>(std::move(graph));
    });
    if (!typed)
        return fail(aboutWideData(std::move(typed).error(), *model, first));
    const std::size_t told = before - countUntyped(**typed);
    if (told == 0) // the rest belongs to branches not taken
        return model;
    note("the file does not record the element types of " + counted(told, "value")
         + "; using those of the first batch");
    return std::move(*typed);
}

} // namespace qs
