// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/node_json.h"

#include "engine/base/memory/free_later.h"
#include "engine/configure/quantization_mode.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/graph/text/graph_printer.h"
#include "engine/plan/names/unit_title.h"
#include "engine/plan/rules/given_ranges.h"
#include "engine/plan/summaries/group_root.h"

#include <algorithm>

namespace qs {

namespace {

std::string ruleKey(const Rule& rule)
{
    std::string key = rule.key;
    if (rule.kind == RuleKind::ModuleNameObjectTypeOrder || rule.kind == RuleKind::Edge)
        key += ", " + rule.secondKey + ", " + std::to_string(rule.index);
    return key;
}

Json qconfigName(const NamedQConfig& qconfig)
{
    return qconfig.config ? Json(qconfig.name) : Json(nullptr);
}

Json ruleJson(const Rule& rule)
{
    return {{"kind", ruleKindName(rule.kind)},
            {"key", ruleKey(rule)},
            {"qconfig", qconfigName(rule.qconfig)}};
}

Json floatsJson(const std::vector<float>& values)
{
    Json list = Json::array();
    for (const float value : values)
        list.push_back(numberJson(value));
    return list;
}

/// Name of the quantization mode, for example "dynamic"; "" for float operators and for qconfigs
/// that match no mode.
std::string_view modeOf(const NodePlan& plan)
{
    if (!plan.qconfig)
        return "";
    const auto mode = quantizationMode(*plan.qconfig);
    return mode ? quantizationModeName(*mode) : std::string_view();
}

/// The reason of an input, of a stored tensor, or of a node without a plan.
Reason plainReason(const Node& node)
{
    if (node.kind == NodeKind::Input)
        return Reason::of<ReasonCode::ModelInput>();
    return node.isStored() ? Reason::of<ReasonCode::StoredTensor>()
                           : Reason::of<ReasonCode::NotReached>();
}

/// Adds the observed range, per tensor or per channel; empty lists if the observer never ran.
void addRange(Json& json, const ObserverStats* stats)
{
    const bool perChannel = stats && !stats->channelMin.empty();
    if (!stats || !stats->everRan()) {
        json["min"] = Json::array();
        json["max"] = Json::array();
        return;
    }
    json["min"] = perChannel ? floatsJson(stats->channelMin) : floatsJson({stats->min});
    json["max"] = perChannel ? floatsJson(stats->channelMax) : floatsJson({stats->max});
}

} // namespace

std::string opName(const Node& node)
{
    return node.isOperator() ? wholeTarget(node.target) : std::string(nodeKindName(node.kind));
}

void addReason(Json& json, const Reason& reason)
{
    json["reason"] = reason.empty() ? Json() : Json(reason.text());
    json["reason_code"] = reason.empty() ? Json() : Json(reason.name());
}

Json typeJson(const ValueType& type)
{
    Json shape = nullptr;
    if (type.kind == ValueKind::Tensor && type.shapeKnown) {
        shape = Json::array();
        for (const Dim& dim : type.shape)
            shape.push_back(dim.isSymbolic() || dim.size < 0 ? Json(dim.text()) : Json(dim.size));
    }
    const bool tensor = type.kind == ValueKind::Tensor;
    return {{"dtype", tensor ? std::string(dtypeName(type.dtype)) : type.text()},
            {"shape", std::move(shape)}};
}

NodeJson::NodeJson(const ResultParts& parts, bool numbers)
    : m_parts(parts)
    , m_numbers(numbers)
    , m_places(*parts.model, *parts.plan)
    , m_titles(*parts.model)
{
    if (parts.comparison)
        for (const NodeError& error : parts.comparison->nodes)
            m_errors.emplace(error.node, &error);
    if (parts.converted)
        for (const KernelCheck& check : parts.converted->checks)
            m_checks.insert_or_assign(check.node, &check);
    if (parts.comparison)
        for (const FormDeparture& departure : parts.comparison->departures)
            m_departures.insert_or_assign(departure.node, &departure);
}

Result<Json> NodeJson::nodes(const JobContext& job) const
{
    const auto made = makeFreedLater<Json>(Json::array());
    Json& list = *made;
    const auto& nodes = m_parts.model->nodes();
    for (const auto& node : nodes) {
        QS_CHECK(job.check());
        const bool stored = node->isStored();
        if (node->kind == NodeKind::Output || (stored && !m_places.hasOutput(node->id)))
            continue;
        list.push_back(this->node(*node, m_parts.plan->tryGet(*m_parts.model, node->id)));
    }
    return std::move(list);
}

Json NodeJson::observations() const
{
    static constexpr const char* kPlaces[] = {"output", "inputs", "weight", "interior"};
    Json list = Json::array();
    for (const ObserverPlace& place : m_places.all())
        list.push_back({{"key", "obs_" + std::to_string(place.observer.value())},
                        {"node", m_parts.model->get(place.node).name},
                        {"place", kPlaces[int(place.kind)]},
                        {"index", place.index}});
    return list;
}

Json NodeJson::node(const Node& node, const NodePlan* plan) const
{
    Json json = {{"name", node.name},
                 {"title", unitTitle(m_titles, *m_parts.plan, plan, node)},
                 {"op", opName(node)},
                 {"module", node.scope.path},
                 {"call_index", node.scope.callIndex},
                 {"module_class", node.scope.moduleClass}};
    addVerdict(json, node, plan);
    addValues(json, node);
    if (m_numbers)
        addNumbers(json, node);
    return json;
}

void NodeJson::addVerdict(Json& json, const Node& node, const NodePlan* plan) const
{
    static const NodePlan kNothing;
    const NodePlan& found = plan ? *plan : kNothing;
    json["quantized"] = found.quantized;
    json["verdict"] = verdictName(found.verdict);
    addReason(json, found.reason.empty() && !found.quantized ? plainReason(node) : found.reason);
    json["pattern"] = found.pattern.empty() ? Json(nullptr) : Json(found.pattern);
    json["qconfig"] = found.qconfig ? Json(found.qconfigName) : Json(nullptr);
    if (const NodeId end = unitEnd(*m_parts.model, *m_parts.plan, node.id); end != node.id)
        json["unit"] = m_parts.model->get(end).name;
    if (found.group >= 0 && m_parts.plan->groups[std::size_t(found.group)].floatResult)
        json["result"] = "float";
    if (const auto mode = modeOf(found); !mode.empty())
        json["mode"] = mode;
    if (!found.note.empty())
        json["note"] = found.note;
    Json rule = ruleJson(found.rule);
    rule["overrides"] = Json::array();
    for (const Rule& other : found.overrides)
        rule["overrides"].push_back(ruleJson(other));
    for (const Rule& edge : found.inputRules) {
        rule["inputs"].push_back(ruleJson(edge));
        rule["inputs"].back()["index"] = inputIndex(node, edge);
    }
    json["rule"] = std::move(rule);
    if (!found.remedy.text.empty())
        json["suggestion"] = found.remedy.text;
    for (const Candidate& candidate : found.candidates)
        json["candidates"].push_back({{"pattern", candidate.pattern}, {"failed", candidate.text}});
}

void NodeJson::addValues(Json& json, const Node& node) const
{
    using Kind = ObserverPlace::Kind;
    Json outputs = Json::array();
    Json first = nullptr;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        outputs.push_back(qparams(m_places.find(Kind::Output, node.id, i), node.id));
        if (first.is_null())
            first = outputs.back();
    }
    json["output"] = std::move(first);
    if (node.outputs.size() > 1)
        json["outputs"] = std::move(outputs);
    json["inputs"] = Json::array();
    const auto refs = inputRefs(node);
    for (std::size_t i = 0; i < refs.size(); ++i)
        json["inputs"].push_back(qparams(inputObserver(node.id, i, refs[i].value), node.id));
    if (m_places.find(Kind::Interior, node.id))
        json["interior"] = interior(node);
    json["weight"] = weight(node, 0);
    if (!m_places.find(Kind::Weight, node.id, 1))
        return;
    Json weights = Json::array(); // of a recurrent network
    for (std::size_t i = 0; m_places.find(Kind::Weight, node.id, i); ++i)
        weights.push_back(weight(node, i));
    json["weights"] = std::move(weights);
}

std::size_t NodeJson::inputIndex(const Node& node, const Rule& edge) const
{
    // The rule's index counts only activations; `inputs` counts every value that the node reads.
    const auto refs = inputRefs(node);
    const auto begin = refs.begin() + std::min<std::ptrdiff_t>(edge.index, std::ssize(refs));
    const auto found = std::find_if(begin, refs.end(), [&](const InputRef& ref) {
        return m_parts.model->get(ref.value.node).name == edge.key;
    });
    return std::size_t(found - refs.begin());
}

ObserverId NodeJson::inputObserver(NodeId node, std::size_t index, ValueRef value) const
{
    using Kind = ObserverPlace::Kind;
    const ObserverId own = m_places.find(Kind::Input, node, index);
    if (own)
        return own;
    // If the edge rules of all consumers agree, the value's own observer follows them.
    const Node& reader = m_parts.model->get(node);
    if (const std::size_t at = m_parts.model->position(node); at < m_parts.plan->nodes.size())
        for (const Rule& edge : m_parts.plan->nodes[at].inputRules)
            if (inputIndex(reader, edge) == index)
                return m_places.find(Kind::Output, value.node, value.index);
    if (value.index == 0)
        return own;
    // A part of a list of results: `output` describes the first observed part alone.
    ObserverId told;
    const std::size_t parts = m_parts.model->get(value.node).outputs.size();
    for (std::size_t i = 0; i < parts && !told; ++i)
        told = m_places.find(Kind::Output, value.node, i);
    const ObserverId part = m_places.find(Kind::Output, value.node, value.index);
    return part == told ? ObserverId {} : part;
}

void NodeJson::addNumbers(Json& json, const Node& node) const
{
    if (const auto error = m_errors.find(node.id); error == m_errors.end())
        json["error"] = nullptr;
    else
        json["error"] = errorJson(*error->second);
    if (const auto found = m_checks.find(node.id); found != m_checks.end()) {
        const KernelCheck& check = *found->second;
        json["kernel"] = {{"name", check.kernel},
                          {"max_lsb", numberJson(check.held)},
                          {"passed", check.passed},
                          {"reason", check.reason.empty() ? Json(nullptr) : Json(check.reason)}};
        if (check.steps.count > 0)
            json["kernel"]["steps"] = stepsJson(check.steps);
    }
    if (const auto found = m_departures.find(node.id); found != m_departures.end())
        json["departure"] = departureJson(*found->second);
}

const PlannedObserver* NodeJson::planned(ObserverId id) const
{
    const auto& observers = m_parts.plan->observers; // ids are index + 1
    return id && id.value() <= observers.size() ? &observers[id.value() - 1] : nullptr;
}

Json NodeJson::qparams(ObserverId observer, NodeId at) const
{
    const PlannedObserver* spec = planned(observer);
    if (!spec)
        return nullptr;
    const bool chooses = choosesQParams(spec->spec);
    if (!chooses && !spec->spec.isDynamic && spec->spec.dtype != DType::Float16)
        return nullptr;
    const NodeId first = m_places.firstNode(observer);
    const Json sharedWith = first == at ? Json(nullptr) : Json(m_parts.model->get(first).name);
    const QuantRange range = quantRange(spec->spec);
    Json json
        = {{"dtype", dtypeName(spec->spec.dtype)}, {"qscheme", qschemeName(spec->spec.qscheme)}};
    if (!chooses) { // dynamic or half precision: no fixed parameters
        json["dynamic"] = spec->spec.isDynamic;
        json["scale"] = json["zero_point"] = json["min"] = json["max"] = Json::array();
        const bool integers = isIntegerDType(spec->spec.dtype);
        json["quant_min"] = integers ? Json(range.min) : Json(nullptr);
        json["quant_max"] = integers ? Json(range.max) : Json(nullptr);
    } else if (!m_numbers) {
        json["quant_min"] = range.min;
        json["quant_max"] = range.max;
    } else {
        if (!m_parts.converted || !m_parts.converted->qparams.contains(observer))
            return nullptr;
        const QParams& chosen = m_parts.converted->qparams.at(observer);
        json["scale"] = floatsJson(chosen.scale);
        json["zero_point"] = chosen.floatZeroPoint.empty() ? Json(chosen.zeroPoint)
                                                           : floatsJson(chosen.floatZeroPoint);
        json["quant_min"] = chosen.quantMin;
        json["quant_max"] = chosen.quantMax;
        addRange(json, m_parts.observations ? m_parts.observations->tryGet(observer) : nullptr);
        if (!chosen.calibrated)
            json["calibrated"] = false;
    }
    if (spec->spec.groupSize > 0)
        json["group_size"] = spec->spec.groupSize;
    json["observer"] = observerKindName(spec->spec.kind);
    if (givenFor(*m_parts.model, *spec))
        json["source"] = "fake_quantizer";
    json["shared_with"] = sharedWith;
    if (spec->rule.kind != RuleKind::None)
        json["rule"] = ruleJson(spec->rule);
    if (m_parts.alternatives)
        if (const auto found = m_parts.alternatives->find(observer);
            found != m_parts.alternatives->end())
            json["alternatives"] = alternativesJson(found->second);
    return json;
}

Json NodeJson::interior(const Node& node) const
{
    Json list = Json::array();
    std::unordered_map<std::string, const InteriorError*> errors;
    if (m_parts.comparison)
        for (const InteriorError& error : m_parts.comparison->interiors)
            if (error.node == node.id)
                errors.emplace(error.interior, &error);
    for (std::size_t i = 0;; ++i) {
        const ObserverId id = m_places.find(ObserverPlace::Kind::Interior, node.id, i);
        const PlannedObserver* observer = planned(id);
        if (!observer)
            return list;
        Json entry = qparams(id, node.id);
        if (!entry.is_object())
            entry = Json::object();
        entry["name"] = observer->interior;
        if (m_numbers) {
            const auto error = errors.find(observer->interior);
            entry["error"]
                = error == errors.end() ? Json(nullptr) : metricsJson(error->second->cumulative);
        }
        list.push_back(std::move(entry));
    }
}

Json NodeJson::weight(const Node& node, std::size_t index) const
{
    const ObserverId observer = m_places.find(ObserverPlace::Kind::Weight, node.id, index);
    Json json = qparams(observer, node.id);
    if (json.is_null())
        return json;
    const PlannedObserver* spec = planned(observer);
    if (index > 0 && !spec->edges.empty())
        json["parameter"] = m_parts.model->get(spec->edges.front().value.node).target;
    json["axis"] = isPerChannel(spec->spec.qscheme) ? Json(spec->spec.chAxis) : Json(nullptr);
    return json;
}

} // namespace qs
