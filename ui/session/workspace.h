// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/repeated_modules.h"
#include "ui/session/cure/cure_search.h"
#include "ui/session/decisions/undo_commands.h"
#include "ui/session/facts.h"
#include "ui/session/fold_tree.h"
#include "ui/session/jobs/alternatives_asked.h"
#include "ui/session/jobs/cause_finder.h"
#include "ui/session/jobs/live_calibration.h"
#include "ui/session/jobs/live_preview.h"
#include "ui/session/jobs/metric_runner.h"
#include "ui/session/jobs/model_trainer.h"
#include "ui/session/jobs/pipeline.h"
#include "ui/session/jobs/value_previews.h"
#include "ui/session/search/bookmarks.h"
#include "ui/session/search/style_rules.h"
#include "ui/session/selection.h"

#include <QObject>
#include <QUndoStack>

namespace qs {

/// The state that all views share: the document, one selection, the undo stack, the running jobs,
/// and the facts and the module hierarchy derived from them. Whenever a signal is delivered, facts,
/// hierarchy and selection match the document, in the order of `Notice`. GUI thread only.
class Workspace : public QObject
{
    Q_OBJECT

public:
    explicit Workspace(EngineService& engine, QObject* parent = nullptr);

    Document& document() { return m_document; }
    const Document& document() const { return m_document; }
    Selection& selection() { return m_selection; }
    QUndoStack& undoStack() { return m_undo; }
    Pipeline& pipeline() { return m_pipeline; }
    Bookmarks& bookmarks() { return m_bookmarks; }
    StyleRules& styleRules() { return m_styleRules; }
    ValuePreviews& previews() { return m_previews; }
    AlternativesAsked& alternatives() { return m_alternatives; }
    LivePreview& live() { return m_live; }
    LiveCalibration& calibrating() { return m_calibrating; }
    CauseFinder& causes() { return m_causes; }
    MetricRunner& metric() { return m_metric; }
    const MetricRunner& metric() const { return m_metric; }
    CureSearch& cureSearch() { return m_cureSearch; }
    const CureSearch& cureSearch() const { return m_cureSearch; }
    ModelTrainer& trainer() { return m_trainer; }
    const ModelTrainer& trainer() const { return m_trainer; }
    const Facts& facts() const { return m_facts; }
    /// The hierarchy of the float graph; null without a model.
    const FoldTreePtr& foldTree() const { return m_tree; }

    /// Repeated blocks of the model; found on first use. There must be a model.
    const RepeatedModules& repeats();
    /// Repeated blocks of the model; null if not found yet.
    const RepeatedModulesPtr& knownRepeats() const { return m_repeats; }
    /// Sets the repeated blocks that another thread found, if they belong to the open model.
    void takeRepeats(const GraphPtr& model, RepeatedModulesPtr found);
    const Selection& selection() const { return m_selection; }

    /// Selects the nodes of an entry of `foldTree()`; `extend` adds them to or removes them from
    /// the selection.
    void selectEntry(int entry, bool extend = false);
    /// Selects all entries, each with its content; `extend` keeps the present selection.
    void selectEntries(const std::vector<int>& entries, bool extend);
    /// Selects the unit that the node is drawn as.
    void selectNode(NodeId node);
    /// Inspects an edge: selects the reader of the value, with the edge.
    void selectEdge(const Edge& edge);
    /// Selects those of the nodes that are drawn; false, without an effect, if none is.
    bool selectDrawn(std::vector<NodeId> nodes);
    /// Entries that the selection covers: the module's, or one per selected unit.
    std::vector<int> selectedEntries() const;
    /// Makes or clears rules for the selection, undoable. "" keeps float, empty clears.
    void assign(const AssignTarget& target, const std::optional<std::string>& qconfigName);
    /// The selection as a target of node rules: each of its operators by name.
    AssignTarget nodeTarget() const;
    /// Replaces the recipe as one undoable step; no step if it is equal.
    void change(const QString& text, Recipe recipe);
    /// Switches to a shipped backend or a backend file; a global rule that names the old backend
    /// follows. Undoable.
    void chooseBackend(const std::string& nameOrPath);
    /// Applies the plan's suggestion for the node.
    void applyRemedy(NodeId node);
    /// If set, the tree shows only nodes of this verdict, and the graph fades the others.
    const std::optional<Verdict>& verdictFilter() const { return m_filter; }
    void setVerdictFilter(std::optional<Verdict> verdict);
    /// True without a filter, or if a node inside has its verdict.
    bool passesFilter(int entry) const;
    /// Shows a run's errors in place of the current ones, in every view; null: the current result.
    void showRun(ShownRunPtr run);
    const ShownRunPtr& shownRun() const { return m_shownRun; }
    /// Names to offer: the recipe's own first, then the backend's default, then other presets.
    QStringList qconfigNames() const;

Q_SIGNALS:
    void treeChanged();
    void factsChanged();
    void filterChanged();

private:
    /// Updates derived values after a change of the document, before views are notified.
    void derive(const Notices::Set& posted);
    void deriveTree();
    void deriveFacts();
    void takeDecided(const CalibrationPtr& calibration, const Recipe& asked);
    void readScalars();
    /// Drops nodes, modules, values and edges that no longer exist.
    void keepSelected();

    Document m_document;
    Selection m_selection;
    QUndoStack m_undo;
    Pipeline m_pipeline;
    Bookmarks m_bookmarks;
    ShownRunPtr m_shownRun;
    bool m_runFits = false; ///< the shown run's errors match the current graph
    Facts m_facts;
    FoldTreePtr m_tree;
    GraphPtr m_treeModel; ///< model of the last announced `m_tree`
    RepeatedModulesPtr m_repeats;
    std::optional<Verdict> m_filter;
    StyleRules m_styleRules; ///< this and the members below depend on those above
    ValuePreviews m_previews;
    AlternativesAsked m_alternatives;
    LivePreview m_live;
    LiveCalibration m_calibrating;
    CauseFinder m_causes;
    ModelTrainer m_trainer;
    MetricRunner m_metric;
    CureSearch m_cureSearch;
};

} // namespace qs
