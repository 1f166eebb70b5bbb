// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/facts.h"

#include "engine/base/error_scale.h"
#include "engine/base/text.h"
#include "ui/session/text.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace qs {

Facts::Facts(const Document& document, ShownRunPtr shown)
    : m_model(document.model())
    , m_tree(document.hierarchy())
    , m_plan(document.plan())
    , m_calibration(document.calibration())
    , m_converted(document.converted())
    , m_shown(std::move(shown))
    , m_comparison(m_shown ? m_shown->comparison : document.comparison())
    , m_timed(document.comparison())
    , m_nodeData(document.nodeData())
    , m_scalars(document.scalars())
    , m_diagnosis(m_shown ? nullptr : document.diagnosis())
    , m_diagnosisStale(!m_shown && document.isDiagnosisStale())
    , m_errorsStale(!m_shown && document.isStale(Stage::Compare))
    , m_calibrationStale(document.isStale(Stage::Calibrate))
{
    if (const auto& edited = document.edited())
        for (const NodeId node : edited->touched())
            m_edited.insert(node);
    if (m_plan) {
        for (const auto& observer : m_plan->observers) {
            if (observer.isWeight) {
                m_weight.emplace(observer.weightOwner, observer.id);
                continue;
            }
            for (const auto& edge : observer.edges)
                if (edge.readers.empty())
                    m_output.emplace(edge.value, observer.id);
        }
        for (const NodePlan& reader : m_plan->nodes)
            for (const Rule& rule : reader.inputRules)
                if (std::size_t(rule.index) < reader.activations.size())
                    m_outputRules[reader.activations[std::size_t(rule.index)].second.node]
                        .push_back(rule);
    }
    if (m_diagnosis)
        for (const UnitNoise& unit : m_diagnosis->units)
            m_noise.emplace(unit.node, unit.noise);
    matchObservers();
    if (!m_shown && (m_errorsStale || !m_comparison))
        m_preview = document.preview();
    if (m_preview)
        for (const auto& error : m_preview->nodes)
            m_previewed.emplace(error.node, &error);
    if (m_comparison)
        for (const auto& error : m_comparison->nodes)
            m_errors.emplace(error.node, &error);
    if (!m_timed)
        return;
    for (const auto& time : m_timed->floatTimes)
        m_floatSeconds.emplace(time.node, time.seconds);
    // Lowered node ids are only valid for the conversion that was timed.
    if (!document.isStale(Stage::Compare))
        for (const auto& time : m_timed->loweredTimes)
            m_loweredSeconds.emplace(time.node, time.seconds);
}

/// A calibration under another plan has other observer ids. Observers are matched by their value.
void Facts::matchObservers()
{
    const Plan* seen
        = m_calibration && m_calibration->prepared ? m_calibration->prepared->plan.get() : nullptr;
    m_samePlan = !seen || !m_plan || seen == m_plan.get();
    if (m_samePlan)
        return;
    using Place = std::tuple<bool, NodeId, std::string, ValueRef, NodeId>;
    const auto placeOf = [](const PlannedObserver& observer) {
        const bool inside = observer.isWeight || !observer.interior.empty();
        const ObservedEdge edge
            = inside || observer.edges.empty() ? ObservedEdge {} : observer.edges.front();
        return Place {observer.isWeight, inside ? observer.weightOwner : NodeId(),
                      observer.interior, edge.value,
                      edge.readers.empty() ? NodeId() : edge.readers.front().node};
    };
    std::map<Place, ObserverId> at;
    for (const PlannedObserver& observer : seen->observers)
        at.emplace(placeOf(observer), observer.id);
    for (const PlannedObserver& observer : m_plan->observers)
        if (const auto it = at.find(placeOf(observer)); it != at.end())
            m_calibratedAs.emplace(observer.id, it->second);
}

std::optional<double> Facts::seconds(const Graph& graph, std::span<const NodeId> nodes) const
{
    const bool lowered
        = m_converted && &graph == m_converted->lowered.get() && &graph != m_model.get();
    const auto& known = lowered ? m_loweredSeconds : m_floatSeconds;
    std::optional<double> sum;
    for (const NodeId node : nodes)
        if (const auto it = known.find(node); it != known.end())
            sum = sum.value_or(0) + it->second;
    return sum;
}

const ImportedValue* Facts::imported(NodeId node) const
{
    return m_nodeData ? m_nodeData->tryGet(node) : nullptr;
}

QString Facts::scalarText(NodeId node) const
{
    if (!m_scalars)
        return {};
    const auto it = m_scalars->find(node);
    return it == m_scalars->end() ? QString() : QString::fromStdString(it->second);
}

std::vector<const PlannedObserver*> Facts::interiors(NodeId node) const
{
    std::vector<const PlannedObserver*> found;
    if (m_plan && node)
        for (const PlannedObserver& observer : m_plan->observers)
            if (!observer.interior.empty() && observer.weightOwner == node)
                found.push_back(&observer);
    return found;
}

std::optional<double> Facts::interiorSqnr(NodeId node, const std::string& interior) const
{
    if (m_comparison)
        for (const InteriorError& error : m_comparison->interiors)
            if (error.node == node && error.interior == interior)
                return error.cumulative ? error.cumulative->sqnrDb : std::nullopt;
    return std::nullopt;
}

NodePtr Facts::bodyOwner(NodeId node) const
{
    const auto in = [node](const Graph* graph) -> NodePtr {
        const Node* found = graph ? graph->tryGet(node) : nullptr;
        return found && !found->subgraphs.empty() ? graph->nodes()[graph->position(node)] : nullptr;
    };
    if (NodePtr own = in(m_model.get()))
        return own;
    if (NodePtr reference = in(m_converted ? m_converted->reference.get() : nullptr))
        return reference;
    return in(m_calibration && m_calibration->prepared ? m_calibration->prepared->graph.get()
                                                       : nullptr);
}

const NodePlan* Facts::plan(NodeId node) const
{
    return m_plan && m_model && m_model->tryGet(node) ? m_plan->tryGet(*m_model, node) : nullptr;
}

const MatchGroup* Facts::group(NodeId node) const
{
    const auto* decided = plan(node);
    if (!decided || decided->group < 0 || decided->group >= int(m_plan->groups.size()))
        return nullptr;
    return &m_plan->groups[std::size_t(decided->group)];
}

NodeId Facts::leader(std::span<const NodeId> members) const
{
    if (members.empty())
        return {};
    const auto* matched = group(members.front());
    if (matched && std::find(members.begin(), members.end(), matched->root) != members.end())
        return matched->root;
    return members.front();
}

NodeId Facts::last(NodeId node) const
{
    const auto* matched = group(node);
    return matched && (matched->fused || matched->quantized) ? matched->members.back() : node;
}

ObserverId Facts::outputObserver(NodeId node) const
{
    const Node* maker = m_model ? m_model->tryGet(last(node)) : nullptr;
    for (std::uint32_t i = 0; maker && i < maker->outputs.size(); ++i)
        if (const ObserverId found = observerOn({maker->id, i}))
            return found;
    return {};
}

ObserverId Facts::observerOn(ValueRef value) const
{
    const auto it = m_output.find(value);
    return it == m_output.end() ? ObserverId() : it->second;
}

ObserverId Facts::weightObserver(NodeId node) const
{
    const auto* matched = group(node);
    const auto it = m_weight.find(matched ? matched->root : node);
    return it == m_weight.end() ? ObserverId() : it->second;
}

std::vector<std::pair<ValueRef, ObserverId>> Facts::ownInputs(NodeId node) const
{
    std::vector<std::pair<ValueRef, ObserverId>> found;
    if (!m_plan)
        return found;
    const auto reads = [&](const ObservedEdge& edge) {
        const NodePlan* maker = plan(edge.value.node);
        const bool isOnValue = edge.readers.empty(); // if the maker is float, readers quantize
        const auto users = isOnValue ? m_model->users(edge.value) : std::span(edge.readers);
        return m_model->get(edge.value.node).isOperator()
            && !(isOnValue && maker && maker->quantized)
            && std::any_of(users.begin(), users.end(),
                           [&](const Use& use) { return last(use.node) == last(node); });
    };
    for (const auto& observer : m_plan->observers)
        for (const auto& edge : observer.edges)
            if (!observer.isWeight && reads(edge))
                found.emplace_back(edge.value, observer.id);
    return found;
}

const PlannedObserver* Facts::observer(ObserverId id) const
{
    return m_plan && id && id.value() <= m_plan->observers.size()
        ? &m_plan->observers[id.value() - 1]
        : nullptr;
}

ObserverId Facts::calibrated(ObserverId id) const
{
    if (m_samePlan)
        return id;
    const auto it = m_calibratedAs.find(id);
    return it == m_calibratedAs.end() ? ObserverId() : it->second;
}

const ObserverStats* Facts::stats(ObserverId id) const
{
    const ObserverId seen = calibrated(id);
    return m_calibration && m_calibration->observations && seen
        ? m_calibration->observations->tryGet(seen)
        : nullptr;
}

const QParams* Facts::qparams(ObserverId id) const
{
    if (!m_calibration)
        return nullptr;
    const auto it = m_calibration->qparams.find(calibrated(id));
    return it == m_calibration->qparams.end() ? nullptr : &it->second;
}

const NodeError* Facts::error(NodeId node) const
{
    auto it = m_errors.find(last(node));
    // The fusions of a stored run may differ from the current plan's.
    if (it == m_errors.end() && m_shown)
        it = m_errors.find(node);
    return it == m_errors.end() ? nullptr : it->second;
}

QString previewText(const Preview& preview)
{
    return QObject::tr("preview of %1").arg(toQString(counted(preview.samples, "sample")));
}

std::optional<double> Facts::sqnr(NodeId node, ErrorTerm term) const
{
    const auto& errors = errorsOf(term);
    const auto found = errors.find(last(node));
    if (found == errors.end())
        return {};
    const auto& metrics = found->second->term(term);
    return metrics ? metrics->sqnrDb : std::nullopt;
}

std::optional<double> Facts::worstSqnr(std::span<const NodeId> nodes, ErrorTerm term) const
{
    std::optional<double> worst;
    if (errorsOf(term).empty())
        return worst;
    for (NodeId node : nodes)
        if (const auto value = sqnr(node, term))
            worst = worst ? std::min(*worst, *value) : *value;
    return worst;
}

Verdict Facts::verdict(std::span<const NodeId> nodes) const
{
    Verdict out = Verdict::NotApplicable;
    for (NodeId node : nodes) {
        const auto* decided = plan(node);
        if (!decided)
            continue;
        if (decided->verdict == Verdict::Quantized)
            return Verdict::Quantized;
        if (out == Verdict::NotApplicable || out == Verdict::ShapeOnly)
            out = decided->verdict;
    }
    return out;
}

std::pair<double, double> Facts::sqnrRange(ErrorTerm term) const
{
    ErrorScale scale;
    for (const auto& [id, error] : errorsOf(term))
        if (const auto& metrics = error->term(term); metrics && metrics->sqnrDb)
            scale.include(*metrics->sqnrDb);
    return {scale.best(), scale.worst()};
}

std::optional<NoisePart> Facts::noise(std::span<const NodeId> nodes) const
{
    if (m_noise.empty())
        return {};
    std::unordered_set<NodeId> asked;
    std::optional<NoisePart> sum;
    const auto add = [&](NodeId node) {
        const auto found = m_noise.find(node);
        if (found == m_noise.end() || !asked.insert(node).second)
            return;
        (sum ? *sum : sum.emplace()) += found->second;
    };
    for (const NodeId node : nodes) {
        add(node);
        add(last(node));
    }
    return sum;
}

const Cause* Facts::cause(std::span<const NodeId> nodes) const
{
    if (!m_diagnosis)
        return nullptr;
    for (const Cause& cause : m_diagnosis->causes) {
        const NodeId at = m_diagnosis->nodeOf(cause);
        if (std::any_of(nodes.begin(), nodes.end(),
                        [&](NodeId node) { return node == at || last(node) == last(at); }))
            return &cause;
    }
    return nullptr;
}

} // namespace qs
