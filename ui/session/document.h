// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "ui/graph/fold_tree.h"
#endif
#include "ui/session/engine_service.h"

#include <QObject>
#include <QString>

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

/// A recipe and its number. Undo brings the older number back, and with it the results made from
/// it.
struct RecipeSnapshot
{
    Recipe recipe;
    int revision = 0;
};

/// The hierarchy of a model as the window shows it; `before` itself where it comes out the same.
FoldTreePtr hierarchyOf(const Graph& model, const Plan* plan, const Recipe& recipe,
                        const FoldTreePtr& before = nullptr);

/// The open model, every decision on it, and what the engine made of them. All values are shared
/// and const; each change is one signal. GUI thread only.
class Document : public QObject
{
    Q_OBJECT

public:
    explicit Document(QObject* parent = nullptr);

    const GraphPtr& model() const { return m_model; }
    /// Another number is another model; one that a run only told more of keeps its number.
    int modelNumber() const { return m_modelNumber; }
    const Recipe& recipe() const { return m_recipe.recipe; }
    const RecipeSnapshot& recipeSnapshot() const { return m_recipe; }
    int recipeRevision() const { return m_recipe.revision; }
    const PlanPtr& plan() const { return m_plan.value; }
    /// The modules with what the plan fuses and the recipe wraps; null without a model.
    const FoldTreePtr& hierarchy() const { return m_hierarchy; }
    const CalibrationPtr& calibration() const { return m_calibration.value; }
    const ConvertedPtr& converted() const { return m_converted.value; }
    const ComparisonPtr& comparison() const { return m_comparison.value; }
    const ExportReport& exported() const { return m_exported.value; }
    /// What another program says of the nodes; null without.
    const NodeDataPtr& nodeData() const { return m_nodeData; }
    /// Parameters, buffers and constants that are a single number; null until they are read.
    const ScalarTextsPtr& scalars() const { return m_scalars; }
    const RunSettings& settings() const { return m_settings; }
    QString title() const;

    /// Drops everything that belonged to the model before; the recipe starts afresh at revision 1.
    /// `hierarchy`: as `hierarchyOf` makes it, where that was done on another thread already.
    void setModel(GraphPtr model, const Recipe& recipe, FoldTreePtr hierarchy = nullptr);
    /// Publishes a new recipe under a new revision number; results are kept and become stale.
    void setRecipe(const Recipe& recipe);
    /// Brings back an earlier snapshot.
    void restoreRecipe(const RecipeSnapshot& snapshot);
    void setPlan(PlanPtr plan, int revision, FoldTreePtr hierarchy = nullptr);
    /// The same model, of whose values a run told more, with the plan that follows from it: nodes
    /// keep their ids, and all that was made stays.
    void refineModel(GraphPtr model, PlanPtr plan, int revision);
    void setCalibration(CalibrationPtr calibration, int revision);
    void setConverted(ConvertedPtr converted, int revision);
    void setComparison(ComparisonPtr comparison, int revision);
    void setExported(ExportReport report, int revision);
    void setNodeData(NodeDataPtr data);
    void setScalars(ScalarTextsPtr scalars);
    void setSettings(const RunSettings& settings);

    bool hasResult(Stage stage) const;
    /// The recipe revision that a stage's result was made from; 0 without a result.
    int resultRevision(Stage stage) const;
    /// There is a result, made from another recipe than the current one.
    bool isStale(Stage stage) const;

Q_SIGNALS:
    void modelChanged();
    void recipeChanged();
    void planChanged();
    void resultsChanged();
    void settingsChanged();

private:
    template<class T>
    struct Made
    {
        T value {};
        int revision = 0;
    };
    GraphPtr m_model;
    int m_modelNumber = 0;
    RecipeSnapshot m_recipe;
    int m_lastRevision = 0;
    RunSettings m_settings;
    Made<PlanPtr> m_plan;
    FoldTreePtr m_hierarchy;
    Made<CalibrationPtr> m_calibration;
    Made<ConvertedPtr> m_converted;
    Made<ComparisonPtr> m_comparison;
    Made<ExportReport> m_exported;
    NodeDataPtr m_nodeData;
    ScalarTextsPtr m_scalars;
};

} // namespace qs
