// SPDX-License-Identifier: Apache-2.0
#include "engine/export/forms/code_forms.h"

#include "engine/configure/extension_packs.h"
#include "engine/export/forms/custom_module_borders.h"
#include "engine/export/forms/packed_modules.h"
#include "engine/export/forms/python_objects.h"
#include "engine/graph/code/module_code.h"

#include <algorithm>

namespace qs {

namespace {

std::string observerClass(const ObserverSpec& spec)
{
    switch (spec.fakeQuantize) {
    case FakeQuantize::None:
        break;
    case FakeQuantize::Plain:
        return "FakeQuantize";
    case FakeQuantize::FixedQParams:
        return "FixedQParamsFakeQuantize";
    case FakeQuantize::FusedMovingAverage:
        return "FusedMovingAvgObsFakeQuantize";
    case FakeQuantize::Learnable:
        return "_LearnableFakeQuantize";
    }
    switch (spec.kind) {
    case ObserverKind::MinMax:
        return "MinMaxObserver";
    case ObserverKind::MovingAverageMinMax:
        return "MovingAverageMinMaxObserver";
    case ObserverKind::PerChannelMinMax:
        return "PerChannelMinMaxObserver";
    case ObserverKind::MovingAveragePerChannelMinMax:
        return "MovingAveragePerChannelMinMaxObserver";
    case ObserverKind::Histogram:
        return "HistogramObserver";
    case ObserverKind::FixedQParams:
        return "FixedQParamsObserver";
    case ObserverKind::Placeholder:
        return "PlaceholderObserver";
    case ObserverKind::ReuseInput:
        return "ReuseInputObserver";
    case ObserverKind::Noop:
        return "NoopObserver";
    case ObserverKind::Recording:
        return "RecordingObserver";
    case ObserverKind::Identity:
        return "Identity";
    }
    return "Observer";
}

std::string observerText(const Plan& plan, ObserverId id)
{
    const auto index = std::size_t(id.value()) - 1;
    if (index >= plan.observers.size())
        return "Observer()";
    const ObserverSpec& spec = plan.observers[index].spec;
    const QuantRange range = quantRange(spec);
    std::string text = observerClass(spec) + "(dtype=torch." + std::string(dtypeName(spec.dtype));
    if (isIntegerDType(spec.dtype))
        text += ", quant_min=" + std::to_string(range.min)
            + ", quant_max=" + std::to_string(range.max);
    return text + ")";
}

/// Context for printing every form of a model: the classes that packs have patterns for.
CodeContext plainContext()
{
    CodeContext context;
    for (const ExtensionPackPtr& pack : loadedPacks()) {
        for (const BackendPattern& pattern : pack->patterns)
            for (const std::string& name : pattern.pattern)
                if (!name.starts_with("torch.") && name.find('.') != std::string::npos)
                    context.leafClasses.insert(name);
        for (const PackModuleSpec& module : pack->modules)
            context.leafClasses.insert(module.floatClass);
    }
    return context;
}

/// The modules of a plan for training, by the root of their group.
std::unordered_map<NodeId, CodeTrainedModule> trainedModules(const Plan& plan)
{
    std::unordered_map<NodeId, ObserverId> weights;
    for (const PlannedObserver& planned : plan.observers)
        if (planned.isWeight && planned.interior.empty()
            && planned.spec.fakeQuantize != FakeQuantize::None)
            weights.emplace(planned.weightOwner, planned.id);
    std::unordered_map<NodeId, CodeTrainedModule> made;
    for (const MatchGroup& group : plan.groups)
        if (const auto weight = weights.find(group.root);
            group.quantized && !group.qatModule.empty() && weight != weights.end())
            made[group.root] = {group.qatModule, weight->second};
    return made;
}

CodeContext contextOf(const ConvertedModel& converted)
{
    const Plan& plan = *converted.prepared->plan;
    CodeContext context = plainContext();
    context.model = converted.prepared->model.get();
    for (const MatchGroup& group : plan.groups) {
        context.roots[group.members.back()] = group.root;
        if (group.fused && group.members.size() > 1)
            context.fusions.push_back({group.members, group.fusedModule});
    }
    for (const NodePlan& node : plan.nodes) {
        if (context.model->get(node.node).isOperator() && !node.rule.qconfig.config)
            context.withoutQConfig.insert(node.node);
        if (node.quantized)
            context.quantized.insert(node.node);
    }
    context.observerText = [&plan](ObserverId id) { return observerText(plan, id); };
    context.values = std::all_of(converted.qparams.begin(), converted.qparams.end(),
                                 [](const auto& entry) { return entry.second.calibrated; });
    return context;
}

} // namespace

std::string_view codeFormName(CodeForm form)
{
    static constexpr std::string_view kNames[] = {"float", "prepared", "reference", "lowered"};
    return kNames[int(form)];
}

std::optional<CodeForm> codeFormFromName(std::string_view name)
{
    for (CodeForm form : kCodeForms)
        if (codeFormName(form) == name)
            return form;
    return {};
}

std::vector<CodeLine> floatCode(const Graph& model)
{
    PackedModules packed;
    if (model.info().converted)
        if (auto unpacked = unpackModules(std::make_shared<const Graph>(model)))
            packed = std::move(*unpacked);
    std::vector<CodeLine> lines;
    if (packed.modules) {
        CodeContext context = plainContext();
        context.fusions = packed.fusions;
        context.values = true;
        lines = moduleCodeLines(*withPythonObjects(*packed.graph), context, *packed.modules);
    } else {
        lines = codeLines(*withPythonObjects(model), plainContext());
    }
    // Joining objects adds nodes that are not in the model.
    for (CodeLine& line : lines)
        std::erase_if(line.nodes, [&](NodeId id) { return !model.tryGet(id); });
    return lines;
}

CodeCalls loweredCalls(const ConvertedModel& converted)
{
    CodeContext context = contextOf(converted);
    context.reference = converted.reference.get();
    return codeCalls(*converted.lowered, context);
}

std::vector<CodeLine> convertedCode(const ConvertedModel& converted, CodeForm form)
{
    CodeContext context = contextOf(converted);
    switch (form) {
    case CodeForm::Float:
        break;
    case CodeForm::Prepared:
        for (const auto& [observer, weight] : converted.prepared->observedWeight)
            context.observedWeights[weight] = observer;
        context.trained = trainedModules(*converted.prepared->plan);
        return codeLines(*withPythonObjects(*converted.prepared->graph), context);
    case CodeForm::Reference:
        return codeLines(*withPythonObjects(absorbCustomModuleBorders(*converted.reference)),
                         context);
    case CodeForm::Lowered:
        context.reference = converted.reference.get();
        return codeLines(*withPythonObjects(*converted.lowered), context);
    }
    return floatCode(*converted.prepared->model);
}

} // namespace qs
