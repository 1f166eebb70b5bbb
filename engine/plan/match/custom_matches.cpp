// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/match/custom_matches.h"

#include "engine/base/text.h"
#include "engine/plan/match/constraint_check.h"

#include <algorithm>

namespace qs {

CustomModulePtr customModuleOf(const Node& node, const OpName& name)
{
    if (!name.isModule())
        return nullptr;
    CustomModulePtr module = customModuleOf(name.name);
    return module && module->isWhole(node) ? module : nullptr;
}

void addCustomModuleMatches(const Graph& graph, const OpNames& names, Matches& matches)
{
    for (std::size_t u = 0; u < matches.units.size(); ++u) {
        const Unit& unit = matches.units[u];
        if (!customModuleOf(graph.get(unit.root()), names[graph.position(unit.root())])
            || matches.matchOf.count(unit.root()))
            continue;
        const auto lastOf = [&](const Match& match) {
            return graph.position(matches.units[match.units.back()].last());
        };
        const std::size_t position = graph.position(unit.last());
        const auto where = std::find_if(matches.matches.begin(), matches.matches.end(),
                                        [&](const Match& m) { return lastOf(m) > position; });
        const int index = int(where - matches.matches.begin());
        for (auto& [node, match] : matches.matchOf)
            match += match >= index;
        matches.matches.insert(where, Match {{u}, -1});
        matches.matchOf[unit.root()] = index;
    }
}

namespace {

/// Why a qconfig cannot quantize the values inside a module; empty if it can.
std::string whyNotInside(const QConfig& qconfig, QuantizationMode mode)
{
    if (mode != QuantizationMode::Static)
        return "";
    for (const auto& [what, spec] :
         {std::pair("activation", &qconfig.activation), std::pair("weight", &qconfig.weight)}) {
        if (const auto found = checkChooses(what, *spec))
            return "it has " + found->text;
        if (spec->kind == ObserverKind::ReuseInput)
            return std::string(what) + " observer 'reuse_input' has nothing to reuse inside it";
    }
    if (qconfig.weight.groupSize > 0)
        return "groups are for the weights of linears";
    return isPerChannel(qconfig.activation.qscheme)
        ? "the values inside have one scale each, not one a channel"
        : "";
}

/// The first input or output of the module that would be quantized but is known not to be float32;
/// empty if each may be float32.
std::optional<ValueRef> unsupportedValue(const Graph& graph, const Node& node, const OpName& name,
                                         const CustomModule& module)
{
    std::vector<ValueRef> around;
    const std::vector<std::string> results = module.outputs(node);
    for (std::uint32_t i = 0; i < node.outputs.size() && i < results.size(); ++i)
        if (!results[i].empty())
            around.push_back({node.id, i});
    const std::vector<ValueRef> inputs = activationInputs(graph, node, name);
    around.insert(around.end(), inputs.begin(), inputs.end());
    for (const ValueRef ref : around) {
        const ValueType& type = graph.value(ref).type;
        if (type.kind == ValueKind::Tensor && type.dtype != DType::Unknown
            && type.dtype != DType::Float32)
            return ref;
    }
    return std::nullopt;
}

} // namespace

std::optional<Verdicts> decideCustomModule(const Graph& graph, const Node& node, const OpName& name,
                                           const NamedQConfig& qconfig)
{
    const CustomModulePtr module = customModuleOf(node, name);
    if (!module || !qconfig.config)
        return std::nullopt;
    const auto mode = quantizationMode(*qconfig.config);
    if (!mode || !module->takes(*mode)
        || (*mode == QuantizationMode::Static && !isIntegerDType(qconfig.config->activation.dtype)))
        return std::nullopt;
    Verdicts out;
    out.qconfig = qconfig;
    if (const std::string why = whyNotInside(*qconfig.config, *mode); !why.empty()) {
        out.verdict = Verdict::FloatByConstraint;
        out.reason = Reason::of<ReasonCode::QConfigDoesNotFit>(qconfig.name,
                                                               lastPart(module->floatClass()), why);
        return out;
    }
    if (const auto refusal = module->whyNot(node, *mode)) {
        out.verdict = Verdict::FloatByBackend;
        out.reason = Reason::of<ReasonCode::CustomModuleRefused>(refusal->reason);
        out.remedy.text = refusal->remedy;
        return out;
    }
    if (const auto odd = unsupportedValue(graph, node, name, *module)) {
        const Value& value = graph.value(*odd);
        out.verdict = Verdict::ShapeOnly;
        out.reason = Reason::of<ReasonCode::NotFloat32>(inQuotes(value.name),
                                                        std::string(dtypeName(value.type.dtype)));
        return out;
    }
    out.referenceModule = module->quantizedClass(*mode);
    out.decision.quantized = true;
    out.decision.customModule = true;
    out.decision.observeWeight = true;
    out.decision.qconfig = qconfig.config;
    out.note = module->note(graph, node);
    return out;
}

void holdToMappedModes(const Node& node, const std::set<std::string>& modes, Verdicts& out)
{
    if (!out.decision.quantized || !out.qconfig.config)
        return;
    const auto mode = quantizationMode(*out.qconfig.config);
    if (!mode || modes.contains(std::string(quantizationModeName(*mode))))
        return;
    std::string mapped;
    for (const std::string& one : modes)
        mapped += (mapped.empty() ? "" : ", ") + one;
    out.decision = {};
    out.verdict = Verdict::FloatByBackend;
    out.reason = Reason::of<ReasonCode::CustomModuleRefused>(
        "the recipe maps class " + inQuotes(node.scope.moduleClass) + " in mode " + mapped
        + ", and its qconfig '" + out.qconfig.name + "' is "
        + std::string(quantizationModeName(*mode)));
    out.remedy.text = "give it a qconfig of mode " + mapped + ", or map the class under '"
        + std::string(quantizationModeName(*mode)) + "' as well";
}

std::vector<PlannedModule> plannedModules(const Graph& model, const Plan& plan)
{
    std::vector<PlannedModule> found;
    for (const MatchGroup& group : plan.groups) {
        if (!group.customModule || !group.quantized)
            continue;
        const Node& node = model.get(group.root);
        const NodePlan* planned = plan.tryGet(model, node.id);
        const auto mode = planned && planned->qconfig
            ? quantizationMode(*planned->qconfig)
            : Result<QuantizationMode>(QuantizationMode::Static);
        if (CustomModulePtr module = customModuleOf(node); module && mode)
            found.push_back({&node, std::move(module), *mode});
    }
    return found;
}

} // namespace qs
