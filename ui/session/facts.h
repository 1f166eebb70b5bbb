// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/document.h"
#include "ui/session/shown_run.h"

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

namespace qs {

/// Answers queries of the views about nodes from the document's current values. Queries are cheap.
/// Rebuilt when plan or results change. Shares ownership of the values.
class Facts
{
public:
    Facts() = default;
    /// `shown`: the run whose errors are shown instead of the current ones; null: the current ones.
    explicit Facts(const Document& document, ShownRunPtr shown = nullptr);

    /// The representative of a set of nodes drawn as one: the root of their group, else the first.
    NodeId leader(std::span<const NodeId> members) const;
    /// The member that carries output and error: the last of its group.
    NodeId last(NodeId node) const;
    /// The displayed title of a node: the name of its unit (`NodeTitles`).
    QString title(NodeId node) const;
    /// A sentence of the engine, with titles in place of the quoted names of nodes.
    QString titled(const QString& sentence) const;
    const NodePlan* plan(NodeId node) const;
    const MatchGroup* group(NodeId node) const;
    /// The observer of the result of the node or its fusion; the first observed of several outputs.
    ObserverId outputObserver(NodeId node) const;
    /// The observer on the value itself, for all its readers.
    ObserverId observerOn(ValueRef value) const;
    ObserverId weightObserver(NodeId node) const;
    /// The inputs of the node's group that the group itself quantizes, with their observers. Their
    /// quantization error counts as born at the group.
    std::vector<std::pair<ValueRef, ObserverId>> ownInputs(NodeId node) const;
    const PlannedObserver* observer(ObserverId id) const;
    const ObserverStats* stats(ObserverId id) const;
    const QParams* qparams(ObserverId id) const;
    /// The observers inside a custom module, in order of computation.
    std::vector<const PlannedObserver*> interiors(NodeId node) const;
    /// Cumulative SQNR of a value inside, if it was measured.
    std::optional<double> interiorSqnr(NodeId node, const std::string& interior) const;
    const NodeError* error(NodeId node) const;
    std::optional<double> sqnr(NodeId node, ErrorTerm term) const;
    /// The worst of the nodes' errors.
    std::optional<double> worstSqnr(std::span<const NodeId> nodes, ErrorTerm term) const;
    /// "x86", "float", "mixed", "" when nothing is eligible.
    QString qconfigText(std::span<const NodeId> nodes) const;
    /// The edge rules that decide how the node's result is quantized for its readers.
    const std::vector<Rule>& outputRules(NodeId node) const;
    /// Names of the qconfigs that such rules give to the nodes' results, each once: "x86_minmax".
    QString outputQConfigText(std::span<const NodeId> nodes) const;
    /// `qconfigText` (or `word` in its place) followed by `outputQConfigText`: "x86 · out
    /// x86_minmax". `marked`: adds a pencil if the user decided.
    QString decisionText(std::span<const NodeId> nodes, bool marked,
                         const QString& word = {}) const;
    /// True if a user's rule for this node, its module or its result decides.
    bool isOverridden(std::span<const NodeId> nodes) const;
    /// The dominant verdict of the nodes: a quantized one if there is any, else the first float
    /// one.
    Verdict verdict(std::span<const NodeId> nodes) const;
    /// The node with the body for a node of the model: itself, or the custom module that
    /// preparation and conversion made of it. Null without a body.
    NodePtr bodyOwner(NodeId node) const;
    /// True if an edit of the graph changed or added the node.
    bool isEdited(NodeId node) const { return m_edited.contains(node); }
    const Graph* model() const { return m_model.get(); }
    bool hasPlan() const { return m_plan != nullptr; }
    bool hasErrors() const { return m_comparison || m_preview; }
    /// The source of the errors: the current result, or the run that is shown.
    const ComparisonPtr& comparison() const { return m_comparison; }
    const ShownRunPtr& shownRun() const { return m_shown; }
    bool errorsStale() const { return m_errorsStale; }
    /// True if the term belongs to other decisions. The cumulative term follows decisions if there
    /// is a preview.
    bool errorsStale(ErrorTerm term) const
    {
        return m_errorsStale && !(term == ErrorTerm::Cumulative && m_preview);
    }
    /// The preview that gives the cumulative term while the comparison is stale; null if the
    /// comparison gives it.
    const PreviewPtr& preview() const { return m_preview; }
    bool calibrationStale() const { return m_calibrationStale; }
    /// Seconds of the nodes for one batch, measured with the errors: in the lowered form if `graph`
    /// is that form, else of the float operators of the same ids.
    std::optional<double> seconds(const Graph& graph, std::span<const NodeId> nodes) const;
    /// Another program's data; null without any.
    const NodeData* nodeData() const { return m_nodeData.get(); }
    const ImportedValue* imported(NodeId node) const;
    /// The value of a parameter, buffer or constant that is a single number; else empty.
    QString scalarText(NodeId node) const;
    /// The diagnosis that the user requested; null without one, and while a run is shown.
    const DiagnosisPtr& diagnosis() const { return m_diagnosis; }
    bool diagnosisStale() const { return m_diagnosisStale; }
    /// The share of the outputs' noise that the units of the nodes cause; nothing if they quantize
    /// nothing.
    std::optional<NoisePart> noise(std::span<const NodeId> nodes) const;
    /// The cause at one of the nodes, the one with the greatest share; null without a cause.
    const Cause* cause(std::span<const NodeId> nodes) const;
    /// Best and worst SQNR of a term over all nodes; for the colour scale. The worst is always
    /// inside; a best that would stretch the scale is limited.
    std::pair<double, double> sqnrRange(ErrorTerm term) const;

private:
    /// The errors of a term, by node.
    const std::unordered_map<NodeId, const NodeError*>& errorsOf(ErrorTerm term) const
    {
        return term == ErrorTerm::Cumulative && m_preview ? m_previewed : m_errors;
    }
    void matchObservers();
    /// The calibration's observer on the value of this observer of the plan; invalid without one.
    ObserverId calibrated(ObserverId id) const;

    GraphPtr m_model;
    FoldTreePtr m_tree;
    PlanPtr m_plan;
    CalibrationPtr m_calibration;
    ConvertedPtr m_converted;
    ShownRunPtr m_shown;
    ComparisonPtr m_comparison;
    PreviewPtr m_preview;
    ComparisonPtr m_timed; ///< the current result, source of the times
    NodeDataPtr m_nodeData;
    ScalarTextsPtr m_scalars;
    DiagnosisPtr m_diagnosis;
    bool m_diagnosisStale = false;
    std::unordered_map<NodeId, NoisePart> m_noise; ///< by the last node of a unit
    bool m_errorsStale = false;
    bool m_calibrationStale = false;
    bool m_samePlan = true; ///< calibrated under this plan: observer ids are equal
    std::unordered_set<NodeId> m_edited;
    std::unordered_map<ObserverId, ObserverId> m_calibratedAs; ///< else: by the plan's observer
    std::unordered_map<ValueRef, ObserverId> m_output;
    std::unordered_map<NodeId, std::vector<Rule>> m_outputRules;
    std::unordered_map<NodeId, ObserverId> m_weight;
    std::unordered_map<NodeId, const NodeError*> m_errors, m_previewed;
    std::unordered_map<NodeId, double> m_floatSeconds, m_loweredSeconds;
};

/// `Facts::title` without the facts.
QString titleOf(const Document& document, NodeId node);
/// The titles of the nodes' units: "conv1 + bn1", "a, b", "12 nodes".
QString titlesOf(const Document& document, std::span<const NodeId> nodes);

/// "preview of 8 samples"
QString previewText(const Preview& preview);

} // namespace qs
