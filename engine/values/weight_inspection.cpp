// SPDX-License-Identifier: Apache-2.0
#include "engine/values/weight_inspection.h"

#include "engine/execute/interpreter.h"
#include "engine/values/channel_axis.h"
#include "engine/values/channel_outliers.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

/// Returns the reference form of a weight of `owner`: the result of its quantize-dequantize steps,
/// whose origin is the owner. The weight itself without such steps.
ValueRef dequantized(const Interpreter& reference, ValueRef weight, NodeId owner)
{
    const Graph& graph = reference.graph();
    for (bool found = true; found;) {
        found = false;
        for (const Use& use : graph.users(weight)) {
            const Node& reader = graph.get(use.node);
            if (reader.id == owner || reader.origin != owner || !reader.isOperator()
                || !reference.isConstant({reader.id, 0}))
                continue;
            weight = {reader.id, 0};
            found = true;
            break;
        }
    }
    return weight;
}

std::string tensorName(const ConvertedModel& converted, NodeId stored)
{
    const Node& node = converted.prepared->graph->get(stored);
    const Node* origin = converted.prepared->model->tryGet(node.origin);
    const Node& named = origin ? *origin : node;
    return named.target.empty() ? named.name : named.target;
}

/// Returns a channel's scale; with groups, the largest of the channel.
double scaleOf(const QParams& qparams, std::size_t channel, std::size_t channels)
{
    const std::vector<float>& scales = qparams.scale;
    const std::size_t each = qparams.groupSize > 0 ? scales.size() / channels : 1;
    if (scales.size() < (channel + 1) * each || each == 0)
        return double(scales.front());
    const auto first = scales.begin() + std::ptrdiff_t(channel * each);
    return double(*std::max_element(first, first + std::ptrdiff_t(each)));
}

Result<void> measure(WeightInspection& inspection, const ValuePair& weight, const QParams* qparams)
{
    // The weight as one sample.
    ValueSums sums;
    QS_CHECK(sums.add({weight.first.unsqueeze(0), weight.second.unsqueeze(0)},
                      inspection.channelAxis + 1, 1));
    ErrorSums all;
    for (std::size_t c = 0; c < sums.channels().size(); ++c) {
        kernels::merge(all, sums.channels()[c].sums);
        inspection.channels.push_back(channelError(0, c, sums));
        if (qparams && !qparams->scale.empty())
            inspection.channels.back().scale = scaleOf(*qparams, c, sums.channels().size());
    }
    inspection.error = metricsFrom(all).value_or(ErrorMetrics {});
    markOutliers(inspection.channels);
    return {};
}

} // namespace

Result<std::vector<WeightInspection>>
weightInspections(const ConvertedModel& converted, const CompareUnit& unit, const JobContext& job)
{
    std::vector<WeightInspection> inspections;
    std::optional<Interpreter> reference;
    const PreparedModel& prepared = *converted.prepared;
    for (const PlannedObserver& observer : prepared.plan->observers) {
        const auto weight = prepared.observedWeight.find(observer.id);
        if (weight == prepared.observedWeight.end()
            || std::find(unit.members.begin(), unit.members.end(), observer.weightOwner)
                == unit.members.end())
            continue;
        QS_CHECK(job.check());
        if (!reference) {
            QS_TRY(reference, Interpreter::create(converted.reference));
        }
        const ValueRef made = dequantized(*reference, weight->second, observer.weightOwner);
        if (made == weight->second)
            continue;
        QS_TRY(const at::IValue before, reference->computeConstant(weight->second));
        QS_TRY(const at::IValue after, reference->computeConstant(made));
        if (!before.isTensor() || !after.isTensor()
            || before.toTensor().sizes() != after.toTensor().sizes())
            continue;
        WeightInspection inspection;
        const Node& owner = prepared.model->get(observer.weightOwner);
        const auto qparams = converted.qparams.find(observer.id);
        const bool known = qparams != converted.qparams.end();
        inspection.node = owner.name;
        inspection.name = tensorName(converted, weight->second.node);
        inspection.dtype = dtypeName(observer.spec.dtype);
        inspection.scheme
            = known ? std::string(qschemeName(qparams->second.qscheme)) : std::string();
        inspection.shape = before.toTensor().sizes().vec();
        inspection.channelAxis = known && isPerChannel(qparams->second.qscheme)
            ? qparams->second.axis
            : weightChannelAxis(owner);
        QS_CHECK(measure(inspection, {before.toTensor(), after.toTensor()},
                         known ? &qparams->second : nullptr));
        inspections.push_back(std::move(inspection));
    }
    return inspections;
}

} // namespace qs
