// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/outline.h"

#include "engine/convert/convert.h"
#include "engine/convert/form_edits.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/prepare/prepare.h"

namespace qs {

namespace {

/// Entries of the parameters: one per channel of a weight, else one.
std::size_t entryCount(const PreparedModel& prepared, const PlannedObserver& observer)
{
    const auto weight = prepared.observedWeight.find(observer.id);
    if (!isPerChannel(observer.spec.qscheme) || weight == prepared.observedWeight.end())
        return 1;
    const auto& shape = prepared.graph->value(weight->second).type.shape;
    const auto axis = std::size_t(observer.spec.chAxis);
    const auto fixed = [&](std::size_t at) {
        return at < shape.size() && !shape[at].isSymbolic() && shape[at].size > 0;
    };
    if (observer.spec.groupSize > 0)
        return fixed(0) && fixed(1)
            ? std::size_t(shape[0].size * shape[1].size / observer.spec.groupSize)
            : 1;
    return axis < shape.size() && !shape[axis].isSymbolic() ? std::size_t(shape[axis].size) : 1;
}

/// Parameters with equal scales, so that operators that only move values are lowered as after a
/// calibration.
QParamsTable outlineParameters(const PreparedModel& prepared)
{
    QParamsTable table;
    for (const PlannedObserver& observer : prepared.plan->observers) {
        ObserverStats unseen;
        unseen.id = observer.id;
        unseen.spec = observer.spec;
        QParams qparams = chooseQParams(unseen);
        if (observer.spec.kind != ObserverKind::FixedQParams) {
            const std::size_t entries = entryCount(prepared, observer);
            qparams.scale.assign(entries, 1.0f);
            qparams.zeroPoint.assign(entries, 0);
            qparams.calibrated = false;
        }
        table[observer.id] = std::move(qparams);
    }
    return table;
}

} // namespace

Result<ConvertedPtr> outlineConversion(GraphPtr model, PlanPtr plan, const Recipe& recipe,
                                       const JobContext& job)
{
    QS_TRY(PreparedPtr prepared, prepareModel(std::move(model), std::move(plan), job));
    QParamsTable table = outlineParameters(*prepared);
    QS_CHECK(job.check());
    QS_TRY(const ConvertedPtr converted,
           convertModel(std::move(prepared), std::move(table), recipe, {}, job));
    return withFormEdits(converted, recipe, job);
}

} // namespace qs
