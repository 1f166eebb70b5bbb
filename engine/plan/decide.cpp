// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/decide.h"

#include "engine/base/text.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/plan/match/custom_matches.h"
#include "engine/plan/names/taken_apart.h"
#include "engine/plan/remedy.h"
#include "engine/plan/rules/fusion_conflicts.h"
#include "engine/plan/whole_objects.h"

#include <algorithm>

namespace qs {

namespace {

OperandFacts operandFacts(const Node& node, const OpName& name, bool hasReference)
{
    OperandFacts facts;
    for (std::size_t a = 0; a < node.args.size(); ++a) {
        if (node.args[a].name == "params" && node.args[a].value.asList())
            facts.moduleWeight = true; // parameters of a recurrent network
        if (!node.args[a].value.asRef())
            continue;
        const ArgumentRole role = argumentRole(node, name, a);
        if (role == ArgumentRole::Weight)
            (name.isModule() ? facts.moduleWeight : facts.functionalWeight) = true;
        if (role == ArgumentRole::Bias)
            facts.functionalBias = !name.isModule();
    }
    // Parameters of other modules are not quantized, independent of the qconfig's weight observer.
    facts.moduleWeight = facts.moduleWeight && hasReference;
    return facts;
}

/// Returns the number of tensor arguments of the operator.
int tensorArguments(const Graph& graph, const Node& node)
{
    int count = 0;
    for (const auto& argument : node.args)
        if (const ValueRef* ref = argument.value.asRef())
            count += graph.value(*ref).type.kind == ValueKind::Tensor;
    return count;
}

/// A value that prevents a match from being quantized.
struct UnsupportedDtype
{
    std::string what; ///< "its input 'x'"; empty for none
    DType dtype = DType::Float32;
};

/// Returns the first input or output of the match that is not a float32 tensor. Inputs are checked
/// only if they are quantized: an embedding's are integers.
UnsupportedDtype nonFloatValue(const Graph& graph, const OpNames& names, const Matches& matches,
                               const Match& match, bool inputsQuantized)
{
    const auto odd = [&graph](ValueRef ref) {
        const ValueType& type = graph.value(ref).type;
        return type.kind == ValueKind::Tensor && type.dtype != DType::Unknown
            && type.dtype != DType::Float32;
    };
    const NodeId root = matches.units[match.units.front()].root();
    const Node& node = graph.get(root);
    for (const ValueRef ref : activationInputs(graph, node, names[graph.position(root)]))
        if (inputsQuantized && odd(ref))
            return {"its input " + inQuotes(graph.value(ref).name), graph.value(ref).type.dtype};
    const ValueRef last {matches.units[match.units.back()].last(), 0};
    return odd(last) ? UnsupportedDtype {"its result", graph.value(last).type.dtype}
                     : UnsupportedDtype();
}

/// Returns why the weight lacks its observer's channels or groups; empty if it has them.
std::string whyNoSuchChannels(const Graph& graph, const Node& node, const OpName& name,
                              const ObserverSpec& weight)
{
    if (!isPerChannel(weight.qscheme))
        return {};
    const std::string groups = "groups of " + std::to_string(weight.groupSize);
    if (weight.groupSize > 0 && !node.isOp(kLinearTarget))
        return groups + " are for the weights of linears";
    for (std::size_t a = 0; a < node.args.size(); ++a) {
        const ValueRef* ref = node.args[a].value.asRef();
        if (!ref || argumentRole(node, name, a) != ArgumentRole::Weight)
            continue;
        const ValueType& type = graph.value(*ref).type;
        if (weight.groupSize > 0) {
            const Dim* row = type.shapeKnown && type.shape.size() == 2 ? &type.shape[1] : nullptr;
            if (!row || row->isSymbolic() || row->size < 1)
                return groups + ", but the rows of " + inQuotes(graph.value(*ref).name)
                    + " have no fixed length";
            if (row->size % weight.groupSize != 0)
                return groups + " do not fill the rows of " + std::to_string(row->size)
                    + " values of " + inQuotes(graph.value(*ref).name);
        }
        if (type.shapeKnown && std::size_t(weight.chAxis) >= type.shape.size())
            return "weight ch_axis " + std::to_string(weight.chAxis) + ", but "
                + inQuotes(graph.value(*ref).name) + " has "
                + counted(type.shape.size(), "dimension");
    }
    return {};
}

std::string ruleText(const Rule& rule)
{
    const std::string kind(ruleKindName(rule.kind));
    return rule.kind == RuleKind::Global ? "the global rule" : kind + " rule " + inQuotes(rule.key);
}

/// Records that a rule, or a missing rule, keeps the match float, and the qconfig that the backend
/// would accept.
void keepFloatByRule(Verdicts& out, const RuleHits& hits, const BackendPattern& entry,
                     const NamedQConfig& usual, const OperandFacts& facts)
{
    out.verdict = Verdict::FloatByRule;
    out.reason = hits.empty() ? Reason::of<ReasonCode::NoQConfig>()
                              : Reason::of<ReasonCode::RuleKeepsFloat>(ruleText(*hits.front()));
    if (usual.config)
        out.remedy.qconfig = fitQConfig(entry, *usual.config, facts);
    if (out.remedy)
        out.remedy.text = "give it qconfig " + inQuotes(usual.name)
            + (out.remedy.qconfig == usual.config
                   ? ""
                   : " and " + describeChange(*usual.config, *out.remedy.qconfig));
}

/// "conv2d + relu"
std::string patternText(const BackendPattern& entry)
{
    std::string text;
    for (const std::string& name : entry.pattern)
        text += (text.empty() ? "" : " + ") + lastPart(name);
    return text;
}

/// Returns "; the backends ethos_u, qnn take int16": the shipped backends that accept a qconfig
/// with 16-bit activations for the same operators.
std::string takersOf(const BackendPattern& entry, const QConfig& qconfig, const OperandFacts& facts)
{
    const DType dtype = qconfig.activation.dtype;
    if (dtype != DType::Int16 && dtype != DType::UInt16)
        return {};
    static const std::vector<Backend> shipped = [] {
        std::vector<Backend> read;
        for (const std::string& name : shippedBackends())
            if (auto backend = findBackend(name))
                read.push_back(std::move(*backend));
        return read;
    }();
    const auto takes = [&](const BackendPattern& other) {
        return other.pattern == entry.pattern
            && chooseDTypeConfig(other, qconfig, facts).index >= 0;
    };
    std::vector<std::string> names;
    for (const Backend& backend : shipped)
        if (std::any_of(backend.patterns.begin(), backend.patterns.end(), takes))
            names.push_back(backend.name);
    const std::string type(dtypeName(dtype));
    if (names.empty())
        return "; no shipped backend takes " + type;
    return (names.size() == 1 ? "; the backend " : "; the backends ") + quotedNames(names)
        + (names.size() == 1 ? " takes " : " take ") + type;
}

/// Records that no dtype config accepts the qconfig: what each requires, and the nearest accepted
/// qconfig.
void refuse(Verdicts& out, const DTypeChoice& choice, const Backend& backend, int entryIndex,
            const OperandFacts& facts)
{
    const BackendPattern& entry = backend.patterns[std::size_t(entryIndex)];
    const Violation* why = choice.telling();
    const std::string pattern = patternText(entry);
    const std::string given
        = (why ? why->text : "any dtype") + takersOf(entry, *out.qconfig.config, facts);
    if (why && why->constraint) {
        out.verdict = Verdict::FloatByConstraint;
        out.reason = Reason::of<ReasonCode::ConstraintViolated>(backend.name, pattern, given);
    } else {
        out.verdict = Verdict::FloatByBackend;
        out.reason = Reason::of<ReasonCode::DTypeNotAllowed>(backend.name, pattern, given);
    }
    for (const Violation& violation : choice.violations)
        out.candidates.insert(&violation == why ? out.candidates.begin() : out.candidates.end(),
                              Candidate {entryIndex, entry.pattern, violation.text});
    out.remedy.qconfig = fitQConfig(entry, *out.qconfig.config, facts);
    if (out.remedy)
        out.remedy.text = describeChange(*out.qconfig.config, *out.remedy.qconfig);
}

/// Returns the accepted modes of the operator's custom module: "a static qconfig".
std::string qconfigsTaken(const Node& node, const OpName& name)
{
    const CustomModulePtr module = customModuleOf(node, name);
    std::string modes;
    for (const QuantizationMode mode :
         {QuantizationMode::Static, QuantizationMode::Dynamic, QuantizationMode::WeightOnly})
        if (module && module->takes(mode))
            modes += (modes.empty() ? "" : " or ") + std::string(quantizationModeName(mode));
    return "a " + modes + " qconfig";
}

/// Keeps a weight that a parametrization computes float, as in torch.ao. Returns false if nothing
/// is left to quantize, because the qconfig quantizes only the weight.
bool keepWeightFloat(Verdicts& out, const Graph& graph, const Node& root,
                     const std::string& backend)
{
    const std::string& path = root.scope.path;
    out.remedy.text = removalOfParametrization(graph, path);
    out.remedy.fold = path;
    const auto mode = quantizationMode(*out.qconfig.config);
    if (mode && *mode == QuantizationMode::WeightOnly) {
        out.verdict = Verdict::FloatByBackend;
        out.reason = Reason::of<ReasonCode::InsideModule>(root.scope.moduleClass, backend);
        return false;
    }
    out.note = "its weight stays float, as in torch.ao: a parametrization computes it in each run";
    return true;
}

/// True if the weight has its observer's channels and all values are float32; else records the
/// reason.
bool fitsValues(Verdicts& out, const Graph& graph, const OpNames& names, const Matches& matches,
                const Match& match, bool isWeighted)
{
    const QConfig& qconfig = *out.qconfig.config;
    const Node& root = graph.get(matches.units[match.units.front()].root());
    const OpName& rootName = names[graph.position(root.id)];
    if (out.dtypeConfig->weight.dtype && isWeighted)
        if (const std::string why = whyNoSuchChannels(graph, root, rootName, qconfig.weight);
            !why.empty()) {
            out.verdict = Verdict::FloatByConstraint;
            out.reason = Reason::of<ReasonCode::QConfigDoesNotFit>(out.qconfig.name, "", why);
            return false;
        }
    const UnsupportedDtype odd
        = nonFloatValue(graph, names, matches, match, qconfig.activation.dtype != DType::Float32);
    if (odd.what.empty())
        return true;
    out.verdict = isFloating(odd.dtype) ? Verdict::FloatByBackend : Verdict::ShapeOnly;
    out.reason = Reason::of<ReasonCode::NotFloat32>(odd.what, std::string(dtypeName(odd.dtype)));
    if (isFloating(odd.dtype))
        out.remedy.text = "take it as float32 (--as-float32, in the window one button), or export "
                          "it so: model.float() before torch.export";
    return false;
}

ObservationType observationOf(const BackendPattern& entry, int tensors)
{
    const auto found = entry.numTensorArgsToObservationType.find(tensors);
    return found == entry.numTensorArgsToObservationType.end() ? entry.observationType
                                                               : found->second;
}

std::string usedForBoth(const Node& root, const std::string& qconfig, const Node& last,
                        const std::string& used)
{
    return inQuotes(root.name) + " has qconfig '" + qconfig + "', but its pattern ends with "
        + inQuotes(last.name) + ", whose qconfig '" + used + "' is used for both";
}

} // namespace

Decider::Decider(const Graph& graph, const OpNames& names, const Matches& matches,
                 const Backend& backend)
    : m_graph(graph)
    , m_names(names)
    , m_matches(matches)
    , m_backend(backend)
{
    for (const auto& entry : backend.patterns)
        if (!entry.referenceModule.empty())
            m_references.try_emplace(canonicalTypeName(entry.rootModule), entry.referenceModule);
    auto defaults = QConfigMapping::defaultFor(backend.name);
    if (!defaults)
        defaults = QConfigMapping::defaultFor("x86");
    for (const Rule& rule : defaults->rules)
        if (rule.kind == RuleKind::Global)
            m_usual[""] = rule.qconfig;
        else if (rule.kind == RuleKind::ObjectType && rule.qconfig.config)
            m_usual[canonicalTypeName(rule.key)] = rule.qconfig;
}

std::string Decider::referenceOf(const OpName& root) const
{
    const auto found = root.isModule() ? m_references.find(root.name) : m_references.end();
    return found == m_references.end() ? std::string() : found->second;
}

const NamedQConfig& Decider::usualQConfig(const OpName& root) const
{
    const auto found = m_usual.find(root.name);
    return found == m_usual.end() ? m_usual.at("") : found->second;
}

Verdicts Decider::decide(const Match& match, const std::vector<RuleHits>& hits,
                         std::vector<std::string>& warnings) const
{
    const Graph& graph = m_graph;
    const Matches& matches = m_matches;
    const Backend& backend = m_backend;
    static const BackendPattern kNoEntry;
    const BackendPattern& entry
        = match.entry < 0 ? kNoEntry : backend.patterns[std::size_t(match.entry)];
    const Unit& first = matches.units[match.units.front()];
    const Node& root = graph.get(first.root());
    const OpName& rootName = m_names[graph.position(first.root())];
    Verdicts out;
    out.ruledBy = match.units.back();
    out.referenceModule = referenceOf(rootName);
    // torch.ao quantizes the weight of such a layer only in a fusion.
    const bool computesWeight
        = first.nodes.size() == 1 && hasComputedTensors(graph, root, rootName);
    if (computesWeight)
        out.referenceModule.clear();
    out.decision.observation = observationOf(entry, tensorArguments(graph, root));

    const OperandFacts facts = operandFacts(root, rootName, !out.referenceModule.empty());
    for (const std::size_t u : match.units)
        if (hits[u].empty() || !hits[u].front()->qconfig.config) {
            out.ruledBy = u;
            keepFloatByRule(out, hits[u], entry, usualQConfig(rootName), facts);
            return out;
        }
    out.qconfig = hits[out.ruledBy].front()->qconfig;
    const QConfig& qconfig = *out.qconfig.config;
    const Node& last = graph.get(matches.units[out.ruledBy].last());
    for (const std::size_t u : match.units)
        if (hits[u].front()->qconfig.config != out.qconfig.config
            && !isOverridden(*hits[u].front(), hits[out.ruledBy]))
            warnings.push_back(
                usedForBoth(root, hits[u].front()->qconfig.name, last, out.qconfig.name));

    if (auto why = whyObjectsStayFloat(graph, root)) {
        out.verdict = Verdict::FloatByBackend;
        out.reason = std::move(why->reason);
        out.remedy.text = std::move(why->remedy);
        return out;
    }
    if (auto custom = decideCustomModule(graph, root, rootName, out.qconfig)) {
        custom->ruledBy = out.ruledBy;
        return *custom;
    }
    if (match.entry < 0) {
        out.verdict = Verdict::FloatByBackend;
        out.reason = Reason::of<ReasonCode::OtherQConfigMode>(backend.name, rootName.name,
                                                              qconfigsTaken(root, rootName));
        return out;
    }
    out.dtypeConfig = weightOnlyConfig(entry, qconfig, facts);
    if (!out.dtypeConfig) {
        const DTypeChoice choice = chooseDTypeConfig(entry, qconfig, facts);
        if (choice.index < 0) {
            refuse(out, choice, backend, match.entry, facts);
            return out;
        }
        out.dtypeConfig = entry.dtypeConfigs[std::size_t(choice.index)];
    }
    const bool isWeighted = facts.moduleWeight || facts.functionalWeight;
    if (!fitsValues(out, graph, m_names, matches, match, isWeighted)
        || (computesWeight && !keepWeightFloat(out, graph, root, backend.name)))
        return out;
    out.decision.quantized = out.decision.observation != ObservationType::InputOutputNotObserved;
    out.decision.qconfig = out.qconfig.config;
    out.decision.observeWeight = !out.referenceModule.empty();
    if (!out.decision.quantized) {
        out.verdict = Verdict::ShapeOnly;
        out.reason = Reason::of<ReasonCode::NotObservedByBackend>();
    }
    return out;
}

void applyNullEdges(const Graph& graph, const OpNames& names, const Matches& matches,
                    RuleTable& rules, std::vector<Verdicts>& verdicts,
                    std::vector<Decision>& decisions)
{
    for (std::size_t i = 0; i < matches.matches.size(); ++i) {
        if (!decisions[i].quantized)
            continue;
        const NodeId root = matches.units[matches.matches[i].units.front()].root();
        const auto inputs = activationInputs(graph, graph.get(root), names[graph.position(root)]);
        for (std::size_t input = 0; input < inputs.size(); ++input) {
            const std::string& producer = graph.get(inputs[input].node).name;
            const Rule* rule = rules.edgeRule(producer, graph.get(root).name, int(input));
            if (!rule || rule->qconfig.config)
                continue;
            decisions[i].quantized = verdicts[i].decision.quantized = false;
            verdicts[i].verdict = Verdict::FloatByRule;
            verdicts[i].nullEdge = rule;
            verdicts[i].reason = Reason::of<ReasonCode::EdgeRuleKeepsInputFloat>(producer);
            break;
        }
    }
}

} // namespace qs
