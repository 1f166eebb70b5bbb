// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/workspace.h"

#include "engine/base/log.h"
#include "engine/configure/backend/target.h"
#include "engine/pipeline/checks.h"
#include "engine/plan/block/prepare_lists.h"
#include "engine/plan/block/prepare_settings.h"
#include "engine/plan/remedy.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

Workspace::Workspace(EngineService& engine, QObject* parent)
    : QObject(parent)
    , m_selection(m_document.notices())
    , m_pipeline(engine, m_document)
    , m_styleRules(*this)
    , m_previews(*this)
    , m_alternatives(*this)
    , m_live(*this)
    , m_calibrating(*this)
    , m_causes(*this)
    , m_trainer(*this)
    , m_metric(*this)
    , m_cureSearch(*this)
{
    Notices& notices = m_document.notices();
    notices.deriveWith([this](const Notices::Set& posted) { derive(posted); });
    notices.deliverWith(Notice::Tree, [this] { Q_EMIT treeChanged(); });
    notices.deliverWith(Notice::Facts, [this] { Q_EMIT factsChanged(); });
    notices.deliverWith(Notice::Filter, [this] { Q_EMIT filterChanged(); });
    connect(&m_document, &Document::modelChanged, this, [this] {
        m_undo.clear();
        m_bookmarks.setModel(m_document.model());
        readScalars();
    });
    connect(&m_document, &Document::graphEdited, this, &Workspace::readScalars);
    connect(&m_pipeline, &Pipeline::decided, this, &Workspace::takeDecided);
}

/// Adds the calibration's decisions as one step of the history. The calibration becomes current
/// unless other decisions changed meanwhile.
void Workspace::takeDecided(const CalibrationPtr& calibration, const Recipe& asked)
{
    const PreparedModel& prepared = *calibration->prepared;
    for (const PlanFinding& finding : notFiniteFindings(*calibration))
        warn(finding.text);
    change(tr("keep non-finite values float"),
           withNotFinite(m_document.recipe(), calibration->notFinite));
    if (m_document.recipe() != withNotFinite(asked, calibration->notFinite))
        return;
    const DecisionKeys keys = m_document.keys();
    m_document.refineModel(prepared.model, prepared.plan, keys);
    m_document.setCalibration(calibration, keys);
}

void Workspace::derive(const Notices::Set& posted)
{
    const bool isModel = Notices::has(posted, Notice::Model);
    const bool isGraph = isModel || Notices::has(posted, Notice::Graph);
    const bool isPlan = isGraph || Notices::has(posted, Notice::Plan);
    if (isModel) {
        m_shownRun.reset();
        m_selection.clear();
        setVerdictFilter({});
    }
    if (isGraph) {
        m_repeats.reset();
        m_runFits = false; // until the run is matched with this graph
    }
    if (isPlan || Notices::has(posted, Notice::Results))
        deriveFacts();
    if (isPlan) {
        deriveTree();
        keepSelected();
    }
}

void Workspace::deriveFacts()
{
    m_facts = Facts(m_document, m_runFits ? m_shownRun : nullptr);
    m_document.notices().post({Notice::Facts});
}

void Workspace::showRun(ShownRunPtr run)
{
    if (run == m_shownRun)
        return;
    m_shownRun = std::move(run);
    m_runFits = true;
    deriveFacts();
}

void Workspace::deriveTree()
{
    if (m_document.hierarchy() == m_tree && m_document.model() == m_treeModel)
        return;
    m_tree = m_document.hierarchy();
    m_treeModel = m_document.model();
    m_document.notices().post({Notice::Tree});
}

void Workspace::keepSelected()
{
    const GraphPtr& model = m_document.model();
    if (!model || m_selection.isEmpty())
        return;
    const auto& edge = m_selection.edge();
    if (edge && !isEdge(*model, *edge))
        m_selection.setEdge({});
    const auto inside = m_facts.interiors(m_selection.current());
    if (m_selection.interior()
        && std::none_of(inside.begin(), inside.end(), [this](const PlannedObserver* observer) {
               return observer->id == m_selection.interior();
           }))
        m_selection.setInterior({});
    std::vector<NodeId> left;
    for (const NodeId id : m_selection.nodes())
        if (model->tryGet(id))
            left.push_back(id);
    const int module = m_tree->moduleEntry(m_selection.modulePath().toStdString());
    if (m_selection.isModule() && module >= 0) { // includes nodes added inside
        m_selection.selectModule(QString(m_selection.modulePath()), m_tree->nodesOf(module));
        return;
    }
    if (!m_selection.isModule() && left.size() == m_selection.nodes().size())
        return;
    if (left.empty())
        m_selection.clear();
    else
        m_selection.selectNodes(left, m_facts.leader(left));
}

void Workspace::readScalars()
{
    const GraphPtr model = m_document.model();
    if (!model)
        return;
    m_pipeline.jobs().run(
        Lane::Pool, QStringLiteral("scalars"),
        [&engine = m_pipeline.engine(), model](JobContext& job) {
            return engine.scalars(model, job);
        },
        this,
        [this, number = m_document.modelNumber()](Result<ScalarTextsPtr> scalars) {
            if (scalars && !(*scalars)->empty() && number == m_document.modelNumber())
                m_document.setScalars(std::move(*scalars));
        });
}

const RepeatedModules& Workspace::repeats()
{
    if (!m_repeats)
        m_repeats = RepeatedModules::find(*m_document.model());
    return *m_repeats;
}

void Workspace::takeRepeats(const GraphPtr& model, RepeatedModulesPtr found)
{
    if (found && model == m_document.model())
        m_repeats = std::move(found);
}

void Workspace::selectEntry(int index, bool extend)
{
    if (!m_tree || index < 0)
        return;
    const auto& entry = m_tree->entry(index);
    const auto nodes = m_tree->nodesOf(index);
    if (entry.isModule() && !extend) {
        m_selection.selectModule(QString::fromStdString(entry.path), nodes);
        return;
    }
    if (!extend || m_selection.isModule()) {
        m_selection.selectNodes(nodes, m_facts.leader(nodes));
        return;
    }
    auto all = m_selection.nodes();
    const bool inside = m_selection.contains(nodes.front());
    for (NodeId node : nodes) {
        const auto it = std::find(all.begin(), all.end(), node);
        if (inside && it != all.end())
            all.erase(it);
        else if (!inside && it == all.end())
            all.push_back(node);
    }
    if (all.empty())
        m_selection.clear();
    else
        m_selection.selectNodes(all, inside ? m_facts.leader(all) : m_facts.leader(nodes));
}

void Workspace::selectEntries(const std::vector<int>& entries, bool extend)
{
    if (!m_tree)
        return;
    std::vector<NodeId> all;
    if (extend && !m_selection.isModule())
        all = m_selection.nodes();
    std::unordered_set<NodeId> seen(all.begin(), all.end());
    for (const int entry : entries)
        for (NodeId node : m_tree->nodesOf(entry))
            if (seen.insert(node).second)
                all.push_back(node);
    if (!all.empty())
        m_selection.selectNodes(all, m_facts.leader(all));
}

void Workspace::selectNode(NodeId node)
{
    if (!m_tree)
        return;
    const int unit = m_tree->unitOf(node);
    if (unit < 0)
        return;
    const auto nodes = m_tree->nodesOf(unit);
    m_selection.selectNodes(nodes, m_facts.leader(nodes));
}

bool Workspace::selectDrawn(std::vector<NodeId> nodes)
{
    std::erase_if(nodes, [this](NodeId node) {
        return !m_document.model() || !m_document.model()->tryGet(node) || m_tree->unitOf(node) < 0;
    });
    if (!nodes.empty())
        m_selection.selectNodes(nodes);
    return !nodes.empty();
}

void Workspace::selectEdge(const Edge& edge)
{
    if (!m_tree)
        return;
    if (m_tree->unitOf(edge.reader.node) >= 0)
        selectNode(edge.reader.node);
    m_selection.setEdge(edge);
}

std::vector<int> Workspace::selectedEntries() const
{
    std::vector<int> out;
    if (!m_tree)
        return out;
    if (m_selection.isModule()) {
        const int entry = m_tree->moduleEntry(m_selection.modulePath().toStdString());
        if (entry >= 0)
            out.push_back(entry);
        return out;
    }
    std::unordered_set<int> known; // a set, as thousands may be selected
    for (NodeId node : m_selection.nodes()) {
        const int unit = m_tree->unitOf(node);
        if (unit >= 0 && known.insert(unit).second)
            out.push_back(unit);
    }
    return out;
}

AssignTarget Workspace::nodeTarget() const
{
    AssignTarget target;
    target.kind = RuleKind::Node;
    for (NodeId id : m_selection.nodes()) {
        const Node* node = m_document.model() ? m_document.model()->tryGet(id) : nullptr;
        if (node && node->isOperator())
            target.keys.push_back(node->name);
    }
    return target;
}

void Workspace::assign(const AssignTarget& target, const std::optional<std::string>& qconfigName)
{
    if (target.keys.empty()
        || assignQConfig(m_document.recipe(), target, qconfigName) == m_document.recipe())
        return;
    m_undo.push(new AssignCommand(m_document, target, qconfigName));
}

void Workspace::change(const QString& text, Recipe recipe)
{
    if (!(recipe == m_document.recipe()))
        m_undo.push(new RecipeCommand(m_document, text, std::move(recipe)));
}

void Workspace::chooseBackend(const std::string& nameOrPath)
{
    Recipe recipe = m_document.recipe();
    if (auto made = withBackend(recipe, nameOrPath))
        recipe = std::move(*made);
    else // planning reports its errors
        recipe.backend = nameOrPath;
    change(tr("choose backend %1").arg(QString::fromStdString(nameOrPath)), std::move(recipe));
}

void Workspace::applyRemedy(NodeId node)
{
    const auto& model = m_document.model();
    const auto& plan = m_document.plan();
    if (!model || !plan || !model->tryGet(node))
        return;
    change(tr("apply the suggestion for %1").arg(m_facts.title(node)),
           ::qs::applyRemedy(m_document.recipe(), *model, *plan, node));
}

void Workspace::setVerdictFilter(std::optional<Verdict> verdict)
{
    if (verdict == m_filter)
        return;
    m_filter = verdict;
    m_document.notices().post({Notice::Filter});
}

bool Workspace::passesFilter(int entry) const
{
    if (!m_filter || !m_tree)
        return true;
    const auto nodes = m_tree->nodesOf(entry);
    return std::any_of(nodes.begin(), nodes.end(), [this](NodeId node) {
        const auto* decided = m_facts.plan(node);
        return decided && decided->verdict == *m_filter;
    });
}

QStringList Workspace::qconfigNames() const
{
    QStringList names;
    const auto add = [&names](const std::string& name) {
        const QString text = QString::fromStdString(name);
        if (!text.isEmpty() && !names.contains(text))
            names << text;
    };
    for (const auto& [name, config] : m_document.recipe().qconfigs)
        add(name);
    add(presetOf(m_document.recipe().target()));
    for (const auto& name : presetNames())
        add(name);
    return names;
}

} // namespace qs
