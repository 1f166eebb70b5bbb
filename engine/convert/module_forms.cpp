// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/module_forms.h"

#include "engine/convert/quantize_weights.h"
#include "engine/plan/match/custom_matches.h"
#include "engine/prepare/observe_modules.h"

namespace qs {

namespace {

/// The parameters of the values inside one module.
class InteriorParams
{
public:
    InteriorParams(const ConvertedModel& model, NodeId module)
        : m_model(model)
        , m_observers(interiorObservers(*model.prepared->plan, module))
    {
    }

    /// Null for a value that is not quantized.
    const QParams* tryGet(const std::string& interior) const
    {
        const auto observer = m_observers.find(interior);
        if (observer == m_observers.end())
            return nullptr;
        const auto found = m_model.qparams.find(observer->second);
        return found == m_model.qparams.end() ? nullptr : &found->second;
    }
    std::optional<InteriorGrid> grid(const std::string& interior) const
    {
        const QParams* params = tryGet(interior);
        if (!params)
            return std::nullopt;
        return InteriorGrid {params->dtype, params->scale.at(0), params->zeroPoint.at(0)};
    }

    ObserverId observer(const std::string& interior) const { return m_observers.at(interior); }
    DType dtype() const
    {
        const QParams* any = m_observers.empty() ? nullptr : tryGet(m_observers.begin()->first);
        return any ? any->dtype : DType::Unknown;
    }

private:
    const ConvertedModel& m_model;
    std::map<std::string, ObserverId> m_observers;
};

QParams fixedParams(const InteriorGrid& grid)
{
    QParams params;
    params.dtype = grid.dtype;
    params.scale = {float(grid.scale)};
    params.zeroPoint = {grid.zeroPoint};
    const QuantRange range = storageRange(storageDType(grid.dtype));
    params.quantMin = range.min;
    params.quantMax = range.max;
    return params;
}

std::vector<PlannedModule> modulesOf(const ConvertedModel& model)
{
    return plannedModules(*model.prepared->model, *model.prepared->plan);
}

GraphPtr referenceBody(const ConvertedModel& model, const PlannedModule& planned, bool probed,
                       Saturation saturation = Saturation::Storage)
{
    const Node& module = *planned.node;
    const InteriorParams params(model, module.id);
    const Seal quantize = [&](GraphEdit& body, ValueRef value, const std::string& interior,
                              bool again) {
        const QParams* own = params.tryGet(interior);
        const auto fixed = own ? std::nullopt : planned.module->fixedGrid(interior, params.dtype());
        if (!own && !fixed)
            return value;
        // Per tensor nothing can fail: no constant is made.
        const ValueRef sealed = insertQdqPair(body, value, own ? *own : fixedParams(*fixed),
                                              {{}, module.id}, saturation)
                                    .value_or(value);
        const bool shown = probed && own && !again;
        return shown ? insertObserver(body, sealed, params.observer(interior)) : sealed;
    };
    return planned.module->floatBody(*model.prepared->model, module, quantize);
}

} // namespace

void quantizeModuleBodies(GraphEdit& edit, const ConvertedModel& model, Saturation saturation)
{
    for (const PlannedModule& planned : modulesOf(model))
        if (planned.mode == QuantizationMode::Static)
            edit.change(planned.node->id).subgraphs
                = {referenceBody(model, planned, false, saturation)};
}

std::unordered_map<NodeId, GraphPtr> probedModuleBodies(const ConvertedModel& model)
{
    std::unordered_map<NodeId, GraphPtr> bodies;
    for (const PlannedModule& planned : modulesOf(model))
        if (planned.mode == QuantizationMode::Static)
            bodies[planned.node->id] = referenceBody(model, planned, true);
    return bodies;
}

std::unordered_map<NodeId, LowerModule> moduleLowerings(const ConvertedModel& model)
{
    std::unordered_map<NodeId, LowerModule> found;
    for (PlannedModule& planned : modulesOf(model))
        found[planned.node->id] = [&model, planned](ModuleDraft& draft) {
            const InteriorParams params(model, planned.node->id);
            return planned.module->lower(
                draft, *model.prepared->model, *planned.node, planned.mode,
                [&](const std::string& interior) { return params.grid(interior); });
        };
    return found;
}

} // namespace qs
