// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/session/fold_tree.h"
#include "ui/session/notices.h"
#endif
#include "engine/pipeline/keys/decision_keys.h"
#include "ui/session/engine_service.h"

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

/// The hierarchy of a model as the window shows it; `before` itself where it comes out the same.
FoldTreePtr hierarchyOf(const Graph& model, const Plan* plan, const Recipe& recipe,
                        const FoldTreePtr& before = nullptr);

/// What a graph is made with, beside its file: taken down before it is made, as packs may be loaded
/// meanwhile. A value.
struct GraphMaking
{
    std::vector<EditStep> edits;
    std::vector<Cure> cures; ///< the cures that change the model: `modelCures`
    std::vector<std::string> modules; ///< quantized as a whole: `customModulesWanted`
    std::string packs; ///< `loadedPacksKey`

    static GraphMaking of(const Recipe& recipe);
    friend bool operator==(const GraphMaking&, const GraphMaking&) = default;
};

/// The open model, every decision on it, and what the engine made of them. All values are shared
/// and const. A change is made whole and then posted: its signals come in the order of `Notice`.
/// GUI thread only.
class Document : public QObject
{
    Q_OBJECT

public:
    explicit Document(QObject* parent = nullptr);

    /// Through which this document's signals, and those of what is derived from it, are delivered.
    Notices& notices() { return m_notices; }

    /// The model that everything is decided on and measured: the file's with the recipe's edits.
    const GraphPtr& model() const { return m_model; }
    /// The model as it was opened, and what became of the edits; null without a model.
    const EditedModelPtr& edited() const { return m_edited; }
    /// The recipe's edits, or the modules that it or a loaded pack wants quantized as a whole, are
    /// not those of `model()` yet: planning brings the graph that follows.
    bool isGraphStale() const;
    /// Changes when another model opens; unchanged when a run only refines types.
    int modelNumber() const { return m_modelNumber; }
    const Recipe& recipe() const { return m_recipe; }
    /// What every stage's result would be made from now.
    const DecisionKeys& keys() const { return m_keys; }
    const PlanPtr& plan() const { return m_plan.value; }
    /// The modules with what the plan fuses and the recipe wraps; null without a model.
    const FoldTreePtr& hierarchy() const { return m_hierarchy; }
    const CalibrationPtr& calibration() const { return m_calibration.value; }
    const ConvertedPtr& converted() const { return m_converted.value; }
    const ComparisonPtr& comparison() const { return m_comparison.value; }
    /// The data that `comparison()` was measured on, as the settings named them; "" without one.
    std::string comparedOn() const;
    /// The errors of the current decisions on a few samples; null if not requested.
    PreviewPtr preview() const;
    /// The causes of the outputs' noise; null before *Find causes*.
    const DiagnosisPtr& diagnosis() const { return m_diagnosis.value; }
    /// It is of other decisions or data than those that stand.
    bool isDiagnosisStale() const;
    /// What changed since: "recipe changed" ...; empty where it is current.
    QString diagnosisStaleReason() const;
    const ExportReport& exported() const { return m_exported.value; }
    /// What another program says of the nodes; null without.
    const NodeDataPtr& nodeData() const { return m_nodeData; }
    /// Parameters, buffers and constants that are a single number; null until they are read.
    const ScalarTextsPtr& scalars() const { return m_scalars; }
    const RunSettings& settings() const { return m_settings; }
    QString title() const;

    /// Drops everything that belonged to the model before.
    /// `hierarchy`: as `hierarchyOf` makes it, where that was done on another thread already.
    /// `edited`: what the recipe's edits make of `model`; null where there are none.
    /// `made`: what that was made with, where it was another thread's work.
    void setModel(GraphPtr model, const Recipe& recipe, FoldTreePtr hierarchy = nullptr,
                  EditedModelPtr edited = nullptr, std::optional<GraphMaking> made = {});
    /// Publishes another recipe; results are kept, and are current again with the decisions that
    /// they were made from. `step`: what the change is called in the history.
    void setRecipe(const Recipe& recipe, const QString& step = {});
    void setSettings(const RunSettings& settings);
    /// Looks at the data's and the backend's files again: what was made from other content is
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
    void setExported(ExportReport report, const DecisionKeys& keys);
    void setNodeData(NodeDataPtr data);
    void setScalars(ScalarTextsPtr scalars);

    bool hasResult(Stage stage) const;
    /// Of the decisions that a stage's result was made from; null without a result.
    const DecisionKeys* keysOf(Stage stage) const;
    /// There is a result, made from other decisions than those that stand.
    bool isStale(Stage stage) const;
    /// What these decisions say to the stage is what the decisions as they stand say.
    bool isSame(Stage stage, const DecisionKeys& made) const;
    /// What changed since a stale result was made: "recipe changed", "data changed" ...
    QString staleReason(Stage stage) const;

    /// Decisions differ from what was last saved or opened; so do, where a project keeps them, the
    /// settings: which data are used and on what device is not a decision about the model.
    bool isModified() const;
    /// `keepsSettings`: what was saved or opened is a project.
    void markSaved(bool keepsSettings);
    /// What a project holds now was never saved so: its model is another.
    void markUnsaved();

Q_SIGNALS:
    /// Before another recipe is taken and anything follows from it: whoever keeps decisions keeps
    /// it now. No notice: nothing has changed yet.
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
        std::optional<DecisionKeys> keys {}; ///< empty: there is no result
    };
    void updateKeys();
    QString whatChanged(const DecisionKeys& made) const;
    void takePlan(PlanPtr plan, const DecisionKeys& keys, FoldTreePtr hierarchy);

    Notices m_notices;
    GraphPtr m_model;
    EditedModelPtr m_edited;
    GraphMaking m_made; ///< that `m_model` was made with
    int m_modelNumber = 0;
    Recipe m_recipe;
    RunSettings m_settings;
    DataState m_data;
    DecisionKeys m_keys;
    Key savedKey() const;

    Key m_saved; ///< `savedKey` of what was saved
    bool m_keepsSettings = false; ///< with what was saved
    Made<PlanPtr> m_plan;
    FoldTreePtr m_hierarchy;
    Made<CalibrationPtr> m_calibration;
    Made<ConvertedPtr> m_converted;
    Made<ComparisonPtr> m_comparison;
    Made<PreviewPtr> m_preview;
    Made<DiagnosisPtr> m_diagnosis;
    Made<ExportReport> m_exported;
    NodeDataPtr m_nodeData;
    ScalarTextsPtr m_scalars;
};

} // namespace qs
