// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/interior_errors.h"

#include "engine/convert/module_forms.h"
#include "engine/distribute/packed.h"
#include "engine/graph/operators/engine_ops.h"

#include <utility>

namespace qs {

InteriorErrors::InteriorErrors(const ConvertedModel& converted, at::Device device)
    : m_plan(converted.prepared->plan)
    , m_device(device)
{
    for (auto& [module, body] : probedModuleBodies(converted)) {
        const Node* prepared = converted.prepared->graph->tryGet(module);
        if (prepared && !prepared->subgraphs.empty())
            m_bodies[module] = {prepared->subgraphs.front(), std::move(body), {}};
    }
}

Result<void> InteriorErrors::add(NodeId module, std::vector<at::IValue> floatInputs,
                                 std::vector<at::IValue> referenceInputs, const JobContext& job)
{
    Bodies& found = m_bodies.at(module);
    QS_TRY(const Interpreter floatRun, Interpreter::create(found.inFloat, {.device = m_device}));
    QS_TRY(const Interpreter referenceRun,
           Interpreter::create(found.inReference, {.device = m_device}));
    std::vector<std::pair<ObserverId, at::Tensor>> signal;
    const Tap keep = [&](ValueRef, const Node& node, const at::IValue& value) {
        if (node.isOp(kObserveTarget))
            signal.emplace_back(node.observer, value.toTensor());
        return Result<void>();
    };
    QS_CHECK(floatRun.run(std::move(floatInputs), keep, job));
    std::size_t next = 0;
    const Tap compare = [&](ValueRef, const Node& node, const at::IValue& value) -> Result<void> {
        if (!node.isOp(kObserveTarget))
            return {};
        if (next >= signal.size() || signal[next].first != node.observer)
            return fail(ErrorCode::Internal, "the two forms of a module run out of step");
        const at::Tensor y = std::exchange(signal[next++].second, at::Tensor());
        return addError(found.sums[node.observer], y, value.toTensor());
    };
    QS_CHECK(referenceRun.run(std::move(referenceInputs), compare, job));
    return {};
}

std::string InteriorErrors::packed(NodeId module) const
{
    Packer out;
    for (const auto& [observer, sums] : m_bodies.at(module).sums)
        out.add(observer).add(sums);
    return out.take();
}

Result<void> InteriorErrors::restore(NodeId module, const std::string& bytes)
{
    Unpacker in(bytes);
    auto& sums = m_bodies.at(module).sums;
    while (!in.isAtEnd() && in.check()) {
        ObserverId observer;
        in.get(observer);
        in.get(sums[observer]);
    }
    return in.check();
}

std::vector<InteriorError> InteriorErrors::result() const
{
    std::vector<InteriorError> out;
    for (const PlannedObserver& observer : m_plan->observers) {
        const auto bodies = m_bodies.find(observer.weightOwner);
        if (observer.interior.empty() || bodies == m_bodies.end())
            continue;
        const auto sums = bodies->second.sums.find(observer.id);
        if (sums != bodies->second.sums.end())
            out.push_back({observer.weightOwner, observer.interior, metricsFrom(sums->second)});
    }
    return out;
}

} // namespace qs
