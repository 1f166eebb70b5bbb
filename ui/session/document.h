// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/session/fold_tree.h"
#include "ui/session/notices.h"
#endif
#include "engine/export/documents/node_data_reader.h"
#include "engine/pipeline/engine_service.h"
#include "engine/pipeline/keys/decision_keys.h"

#include <QObject>
#include <QString>

#include <optional>

namespace qs {

/// The pipeline as the tool bar shows it.
enum class Stage
{
    Open,
    Backend,
    Plan,
    Calibrate,
    Convert,
    Compare,
    Export
};
inline constexpr int kStageCount = 7;

/// The hierarchy of a model as the window shows it; returns `before` if it is equal.
FoldTreePtr hierarchyOf(const Graph& model, const Plan* plan, const Recipe& recipe,
                        const FoldTreePtr& before = nullptr);

/// The inputs, beside the file, from which a graph is made. Recorded before it is made, as packs
/// may be loaded meanwhile. A value.
struct GraphMaking
{
    std::vector<EditStep> edits;
    std::vector<Cure> cures; ///< the cures that change the model: `modelCures`
    std::vector<std::string> modules; ///< quantized as a whole: `customModulesWanted`
    std::string packs; ///< `loadedPacksKey`

    static GraphMaking of(const Recipe& recipe);
    friend bool operator==(const GraphMaking&, const GraphMaking&) = default;
};

/// The open model, every decision on it, and the engine's results. All values are shared and const.
/// A change is complete before its signals, which come in the order of `Notice`.
/// GUI thread only.
class Document : public QObject
{
    Q_OBJECT

public:
    explicit Document(QObject* parent = nullptr);

    /// Delivers the signals of this document and of the values derived from it.
    Notices& notices() { return m_notices; }

    /// The model that everything is decided on and measured: the file's with the recipe's edits.
    const GraphPtr& model() const { return m_model; }
    /// The model as it was opened, and the outcome of the edits; null without a model.
    const EditedModelPtr& edited() const { return m_edited; }
    /// True if `model()` does not yet have the recipe's edits, or the modules that the recipe or a
    /// loaded pack quantizes as a whole: planning updates it.
    bool isGraphStale() const;
    /// Changes when another model opens; unchanged when a run only refines types.
    int modelNumber() const { return m_modelNumber; }
    const Recipe& recipe() const { return m_recipe; }
    /// The keys that current results of each stage have.
    const DecisionKeys& keys() const { return m_keys; }
    const PlanPtr& plan() const { return m_plan.value; }
    /// The module hierarchy with the plan's fusions and the recipe's wraps; null without a model.
    const FoldTreePtr& hierarchy() const { return m_hierarchy; }
    const CalibrationPtr& calibration() const { return m_calibration.value; }
    const ConvertedPtr& converted() const { return m_converted.value; }
    const ComparisonPtr& comparison() const { return m_comparison.value; }
    /// The data of `comparison()`, as the settings named them; "" without a comparison.
    std::string comparedOn() const;
    /// The errors of the current decisions on a few samples; null if not requested.
    PreviewPtr preview() const;
    /// The causes of the outputs' noise; null before *Find causes*.
    const DiagnosisPtr& diagnosis() const { return m_diagnosis.value; }
    /// True if it belongs to other decisions or data than the current ones.
    bool isDiagnosisStale() const;
    /// The change that made it stale: "recipe changed" ...; empty if it is current.
    QString diagnosisStaleReason() const;
    /// The user's metric if it was measured for these decisions.
    std::optional<Evaluation> evaluationOf(const DecisionKeys& made) const;
    /// What a search found and measured on the way to the current decisions, for a result document
    /// (`searchSummary`): of the window's search, else of the opened result. Null without one.
    std::shared_ptr<const ResultDocument::Json> searchSummary() const;
    const ExportReport& exported() const { return m_exported.value; }
    /// Another program's data on the nodes; null without any.
    const NodeDataPtr& nodeData() const { return m_nodeData; }
    /// Parameters, buffers and constants that are a single number; null until they are read.
    const ScalarTextsPtr& scalars() const { return m_scalars; }
    const RunSettings& settings() const { return m_settings; }
    QString title() const;

    /// Sets the model; drops everything of the previous one.
    /// `hierarchy`: from `hierarchyOf`, if another thread computed it already.
    /// `edited`: `model` after the recipe's edits; null without edits.
    /// `made`: the inputs of `edited`, if another thread made it.
    void setModel(GraphPtr model, const Recipe& recipe, FoldTreePtr hierarchy = nullptr,
                  EditedModelPtr edited = nullptr, std::optional<GraphMaking> made = {});
    /// Publishes another recipe. Results stay; they become current again when their decisions
    /// return.
    /// `step`: the name of the change in the history.
    void setRecipe(const Recipe& recipe, const QString& step = {});
    void setSettings(const RunSettings& settings);
    /// Checks the files of the data and the backend again: results of other content become
    /// stale.
    void refreshKeys();

    // Results, each with the keys of the decisions that it was made from.
    void setPlan(PlanPtr plan, const DecisionKeys& keys, FoldTreePtr hierarchy = nullptr);
    /// The graph that `made` gives, with its plan. Results of another graph are dropped: the engine
    /// keeps them, and an undo brings them back.
    void setEdited(EditedModelPtr edited, PlanPtr plan, const DecisionKeys& keys, GraphMaking made,
                   FoldTreePtr hierarchy);
    /// Sets the same model with types that a run refined, and its plan: node ids do not change, and
    /// all results stay.
    void refineModel(GraphPtr model, PlanPtr plan, const DecisionKeys& keys);
    void setCalibration(CalibrationPtr calibration, const DecisionKeys& keys);
    void setConverted(ConvertedPtr converted, const DecisionKeys& keys);
    void setComparison(ComparisonPtr comparison, const DecisionKeys& keys);
    void setPreview(PreviewPtr preview, const DecisionKeys& keys);
    void setDiagnosis(DiagnosisPtr diagnosis, const DecisionKeys& keys);
    void setEvaluation(const Evaluation& evaluation, const DecisionKeys& keys);
    /// The path of the recipe beside which the newest search keeps its state.
    void setSearchBeside(const std::string& recipe) { m_searchBeside = recipe; }
    /// The summary in an opened result of the current decisions; null without one.
    void setSearchSummary(std::shared_ptr<const ResultDocument::Json> summary);
    void setExported(ExportReport report, const DecisionKeys& keys);
    void setNodeData(NodeDataPtr data);
    void setScalars(ScalarTextsPtr scalars);

    bool hasResult(Stage stage) const;
    /// The keys of the decisions that a stage's result was made from; null without a result.
    const DecisionKeys* keysOf(Stage stage) const;
    /// True if the stage has a result that was made from other decisions than the current ones.
    bool isStale(Stage stage) const;
    /// True if these decisions are equal to the current ones for the stage.
    bool isSame(Stage stage, const DecisionKeys& made) const;
    /// The change that made a result stale: "recipe changed", "data changed" ...
    QString staleReason(Stage stage) const;

    /// True if decisions differ from those last saved or opened. Settings (data, device) count only
    /// in a project, which stores them.
    bool isModified() const;
    /// `keepsSettings`: a project was saved or opened.
    void markSaved(bool keepsSettings);
    /// Marks the project as unsaved: its model changed.
    void markUnsaved();

Q_SIGNALS:
    /// Emitted at once, before the recipe changes, so that autosave stores `next` first. Not a
    /// `Notice`: nothing has changed yet.
    void recipeToChange(const Recipe& next, const QString& step);
    void modelChanged();
    /// `model()` is another graph of the same file.
    void graphEdited();
    void recipeChanged();
    void planChanged();
    void resultsChanged();
    void settingsChanged();
    /// `isModified` may have changed.
    void savedChanged();

private:
    template<class T>
    struct Made
    {
        T value {};
        std::optional<DecisionKeys> keys {}; ///< empty: no result
    };
    void updateKeys();
    QString whatChanged(const DecisionKeys& made) const;
    void takePlan(PlanPtr plan, const DecisionKeys& keys, FoldTreePtr hierarchy);

    Notices m_notices;
    GraphPtr m_model;
    EditedModelPtr m_edited;
    GraphMaking m_made; ///< the inputs of `m_model`
    int m_modelNumber = 0;
    Recipe m_recipe;
    RunSettings m_settings;
    DataState m_data;
    DecisionKeys m_keys;
    Key savedKey() const;

    Key m_saved; ///< `savedKey` of the last save
    bool m_keepsSettings = false; ///< of the last save
    Made<PlanPtr> m_plan;
    FoldTreePtr m_hierarchy;
    Made<CalibrationPtr> m_calibration;
    Made<ConvertedPtr> m_converted;
    Made<ComparisonPtr> m_comparison;
    Made<PreviewPtr> m_preview;
    Made<DiagnosisPtr> m_diagnosis;
    Made<Evaluation> m_evaluation;
    std::string m_searchBeside;
    std::shared_ptr<const ResultDocument::Json> m_storedSearch;
    Recipe m_storedSearchOf; ///< the decisions of `m_storedSearch`
    Made<ExportReport> m_exported;
    NodeDataPtr m_nodeData;
    ScalarTextsPtr m_scalars;
};

} // namespace qs
