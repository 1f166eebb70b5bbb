// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/decisions/edge_decisions.h"

#include "engine/configure/backend/target.h"
#include "engine/configure/qconfigs/derived_qconfig.h"
#include "engine/plan/rules/node_rules.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <algorithm>

namespace qs {

namespace {

/// Above this size a selection counts as many nodes, and edges are not listed.
constexpr std::size_t kLargestUnit = 64;

QString stepText(const Facts& facts, const Edge& edge, std::size_t count, const QString& what)
{
    const QString whom = count == 1
        ? edgeText(facts, edge)
        : QObject::tr("%1 and %2 more").arg(edgeText(facts, edge)).arg(count - 1);
    return what.isEmpty() ? QObject::tr("clear the rule of %1").arg(whom)
                          : QObject::tr("set %1 to %2").arg(whom, what);
}

/// Returns "x86_mse" for "x86" or "x86_minmax" and "histogram, mse".
std::string derivedName(const Recipe& recipe, const std::string& from, const QString& word)
{
    std::string base = from.substr(0, from.rfind('_'));
    if (!recipe.qconfigs.contains(from) || !findQConfig(recipe, base))
        base = from;
    QString last = word.section(QLatin1Char(','), -1).trimmed();
    last.replace(QLatin1Char(' '), QLatin1Char('_'));
    if (base.empty())
        base = presetOf(recipe.target());
    return (base.empty() ? "own" : base) + "_" + last.toStdString();
}

/// True if every reader of the value is a quantized operator that an edge rule reaches.
bool readByQuantizedAlone(const Graph& graph, const Plan& plan, ValueRef value)
{
    const auto edges = edgesOf(graph, plan, value);
    return !edges.empty() && edges.size() == graph.users(value).size()
        && std::all_of(edges.begin(), edges.end(), [&](const Edge& edge) {
               const NodePlan* reader = plan.tryGet(graph, edge.reader.node);
               return reader && reader->quantized;
           });
}

RecipeStep edgeStep(Workspace& workspace, const Edge& edge, bool allReaders, Recipe recipe,
                    const std::optional<NamedQConfig>& qconfig)
{
    const auto& document = workspace.document();
    const auto edges = edgesMeant(workspace, edge, allReaders);
    setEdgeRules(recipe, *document.model(), *document.plan(), edges, qconfig);
    const QString what = !qconfig ? QString()
        : qconfig->config         ? toQString(qconfig->name)
                                  : QStringLiteral("float");
    return {stepText(workspace.facts(), edge, edges.size(), what), std::move(recipe)};
}

void make(Workspace& workspace, std::optional<RecipeStep> step)
{
    if (step)
        workspace.change(step->text, std::move(step->recipe));
}

/// Returns the step that gives the edge a new qconfig, which observes activations by `spec`.
std::optional<RecipeStep> edgeSpecStep(Workspace& workspace, const Edge& edge, bool allReaders,
                                       const ObserverSpec& spec, const QString& word)
{
    const auto from = qconfigOnEdge(workspace, edge);
    if (!from)
        return std::nullopt;
    QConfig changed = *from->config;
    changed.activation = spec;
    Recipe recipe = workspace.document().recipe();
    const NamedQConfig named = addQConfig(recipe, changed, derivedName(recipe, from->name, word));
    return edgeStep(workspace, edge, allReaders, std::move(recipe), named);
}

/// Returns the step that gives the edge the qconfig of that name. Nothing removes its rules; ""
/// keeps float.
std::optional<RecipeStep> edgeQConfigStep(Workspace& workspace, const Edge& edge, bool allReaders,
                                          const std::optional<std::string>& qconfigName)
{
    const auto& document = workspace.document();
    if (!document.plan())
        return std::nullopt;
    std::optional<NamedQConfig> qconfig;
    if (qconfigName) {
        qconfig.emplace();
        if (!qconfigName->empty())
            qconfig = NamedQConfig {*qconfigName, findQConfig(document.recipe(), *qconfigName)};
    }
    return edgeStep(workspace, edge, allReaders, document.recipe(), qconfig);
}

} // namespace

QString edgeText(const Facts& facts, const Edge& edge)
{
    return QStringLiteral("%1 ► %2").arg(facts.title(edge.value.node),
                                         facts.title(edge.reader.node));
}

std::vector<Edge> edgesAround(Workspace& workspace)
{
    std::vector<Edge> out;
    const auto& model = workspace.document().model();
    const auto& selection = workspace.selection();
    if (!model || selection.isModule() || selection.nodes().size() > kLargestUnit)
        return out;
    const auto inside = [&](NodeId id) { return selection.contains(id); };
    for (const NodeId id : selection.nodes()) {
        const Node* node = model->tryGet(id);
        for (std::uint32_t a = 0; node && a < node->args.size(); ++a)
            forEachRef(node->args[a].value, [&](ValueRef ref) {
                const Edge edge {ref, {id, a}};
                const Node* maker = model->tryGet(ref.node);
                if (maker && !maker->isStored() && !inside(ref.node)
                    && std::find(out.begin(), out.end(), edge) == out.end())
                    out.push_back(edge);
            });
    }
    for (const NodeId id : selection.nodes()) {
        const Node* node = model->tryGet(id);
        for (std::uint32_t i = 0; node && i < node->outputs.size(); ++i)
            for (const Use& use : model->users({id, i}))
                if (const Edge edge {{id, i}, use};
                    !inside(use.node) && std::find(out.begin(), out.end(), edge) == out.end())
                    out.push_back(edge);
    }
    return out;
}

void stepEdge(Workspace& workspace, int by)
{
    const auto edges = edgesAround(workspace);
    if (edges.empty())
        return;
    auto& selection = workspace.selection();
    const auto at
        = selection.edge() ? std::find(edges.begin(), edges.end(), *selection.edge()) : edges.end();
    const int count = int(edges.size());
    const int next = at == edges.end() ? (by > 0 ? 0 : count - 1)
                                       : (int(at - edges.begin()) + by + count) % count;
    selection.setEdge(edges[std::size_t(next)]);
}

ObserverId observerOnEdge(Workspace& workspace, const Edge& edge)
{
    const auto& document = workspace.document();
    return document.plan()
        ? edgeFacts(*document.model(), *document.plan(), document.recipe(), edge).observer
        : ObserverId();
}

std::optional<Edge> inspectedEdge(Workspace& workspace)
{
    const auto& document = workspace.document();
    const auto& selection = workspace.selection();
    const Facts& facts = workspace.facts();
    const NodeId node = selection.current();
    if (selection.edge() || !node || selection.isModule() || !document.plan())
        return selection.edge();
    const Node* maker = document.model()->tryGet(facts.last(node));
    for (std::uint32_t i = 0; maker && i < maker->outputs.size(); ++i) {
        if (facts.observerOn({maker->id, i}))
            return std::nullopt;
        for (const Edge& edge : edgesOf(*document.model(), *document.plan(), {maker->id, i}))
            if (observerOnEdge(workspace, edge))
                return edge;
    }
    return std::nullopt;
}

ObserverId selectedObserver(Workspace& workspace)
{
    const Selection& selection = workspace.selection();
    if (const ObserverId interior = selection.interior())
        return interior;
    const auto edge = inspectedEdge(workspace);
    return edge ? observerOnEdge(workspace, *edge)
                : workspace.facts().outputObserver(selection.current());
}

std::vector<Edge> edgesMeant(Workspace& workspace, const Edge& edge, bool allReaders)
{
    const Graph& graph = *workspace.document().model();
    const Plan& plan = *workspace.document().plan();
    std::vector<Edge> out;
    for (const Edge& one : allReaders ? edgesOf(graph, plan, edge.value) : std::vector {edge})
        for (const Edge& together : decidedTogether(graph, plan, one))
            if (std::find(out.begin(), out.end(), together) == out.end())
                out.push_back(together);
    return out;
}

void assignEdge(Workspace& workspace, const Edge& edge, bool allReaders,
                const std::optional<std::string>& qconfigName)
{
    make(workspace, edgeQConfigStep(workspace, edge, allReaders, qconfigName));
}

std::optional<NamedQConfig> qconfigOnEdge(Workspace& workspace, const Edge& edge)
{
    const auto& document = workspace.document();
    if (!document.plan())
        return std::nullopt;
    const EdgeFacts facts = edgeFacts(*document.model(), *document.plan(), document.recipe(), edge);
    const PlannedObserver* observer = workspace.facts().observer(facts.observer);
    std::optional<NamedQConfig> out;
    if (facts.won >= 0)
        out = facts.candidates[std::size_t(facts.won)].rule.qconfig;
    for (const NodeId id : {edge.reader.node, edge.value.node})
        if (const NodePlan* plan = workspace.facts().plan(id);
            plan && (!out || !out->config) && plan->qconfig)
            out = NamedQConfig {plan->qconfigName, plan->qconfig};
    if (!out || !out->config)
        return std::nullopt;
    if (observer && !(observer->spec == out->config->activation)) {
        QConfig seen = *out->config;
        seen.activation = observer->spec;
        out->config = seen;
    }
    return out;
}

void assignEdgeSpec(Workspace& workspace, const Edge& edge, bool allReaders,
                    const ObserverSpec& spec, const QString& word)
{
    make(workspace, edgeSpecStep(workspace, edge, allReaders, spec, word));
}

ObserverId observerOf(Workspace& workspace, const SpecTarget& target)
{
    switch (target.kind) {
    case SpecTarget::Kind::Edge:
        return observerOnEdge(workspace, target.edge);
    case SpecTarget::Kind::Value:
        return workspace.facts().outputObserver(target.node);
    case SpecTarget::Kind::Weight:
        break;
    }
    return workspace.facts().weightObserver(target.node);
}

std::optional<RecipeStep> specStep(Workspace& workspace, const SpecTarget& target,
                                   const std::optional<ObserverSpec>& spec, const QString& word)
{
    const auto& document = workspace.document();
    if (!document.plan())
        return std::nullopt;
    const Graph& graph = *document.model();
    const Plan& plan = *document.plan();
    if (target.kind == SpecTarget::Kind::Edge)
        return spec ? edgeSpecStep(workspace, target.edge, false, *spec, word)
                    : edgeQConfigStep(workspace, target.edge, false, std::string());
    const ValueRef value {target.node, 0};
    if (target.kind == SpecTarget::Kind::Value && spec && readByQuantizedAlone(graph, plan, value))
        return edgeSpecStep(workspace, edgesOf(graph, plan, value).front(), true, *spec, word);
    const NodePlan* decided = workspace.facts().plan(target.node);
    if (!decided || !decided->qconfig)
        return std::nullopt;
    Recipe recipe = document.recipe();
    NamedQConfig named;
    if (spec) {
        QConfig changed = *decided->qconfig;
        (target.kind == SpecTarget::Kind::Weight ? changed.weight : changed.activation) = *spec;
        const QString what = target.kind == SpecTarget::Kind::Weight
            ? QStringLiteral("weight %1").arg(word)
            : word;
        named = addQConfig(recipe, changed, derivedName(recipe, decided->qconfigName, what));
    }
    setNodeRules(recipe, graph, decidedTogether(graph, plan, target.node), named);
    return RecipeStep {QObject::tr("set %1 to %2")
                           .arg(workspace.facts().title(target.node),
                                spec ? toQString(named.name) : QStringLiteral("float")),
                       std::move(recipe)};
}

void clearOutputRules(Workspace& workspace, const std::vector<NodeId>& nodes)
{
    const Graph& graph = *workspace.document().model();
    Recipe recipe = workspace.document().recipe();
    QString whom;
    for (const NodeId node : nodes) {
        const std::string& name = graph.get(node).name;
        const auto gone = std::erase_if(recipe.mapping.rules, [&](const Rule& rule) {
            return rule.kind == RuleKind::Edge && rule.key == name;
        });
        if (gone > 0)
            whom = workspace.facts().title(node);
    }
    workspace.change(QObject::tr("clear the rule of %1").arg(whom), std::move(recipe));
}

void clearSpec(Workspace& workspace, const SpecTarget& target)
{
    const auto& document = workspace.document();
    if (!document.plan())
        return;
    if (target.kind == SpecTarget::Kind::Edge) {
        assignEdge(workspace, target.edge, false, std::nullopt);
        return;
    }
    if (target.kind == SpecTarget::Kind::Value
        && !workspace.facts().outputRules(target.node).empty()) {
        clearOutputRules(workspace, {target.node});
        return;
    }
    AssignTarget rules {RuleKind::Node, {}};
    for (const NodeId node : decidedTogether(*document.model(), *document.plan(), target.node))
        rules.keys.push_back(document.model()->get(node).name);
    workspace.assign(rules, std::nullopt);
}

void assignSpec(Workspace& workspace, const SpecTarget& target,
                const std::optional<ObserverSpec>& spec, const QString& word)
{
    make(workspace, specStep(workspace, target, spec, word));
}

} // namespace qs
