// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/document.h"

#include "engine/plan/prepare_settings.h"

#include <QFileInfo>

#include <algorithm>

namespace qs {

namespace {

bool sameTree(const FoldTree& a, const FoldTree& b)
{
    const auto same = [](const FoldEntry& x, const FoldEntry& y) {
        return x.kind == y.kind && x.parent == y.parent && x.label == y.label
            && x.children == y.children && x.members == y.members && x.path == y.path
            && x.wrap == y.wrap;
    };
    return a.entries().size() == b.entries().size()
        && std::equal(a.entries().begin(), a.entries().end(), b.entries().begin(), same);
}

} // namespace

FoldTreePtr hierarchyOf(const Graph& model, const Plan* plan, const Recipe& recipe,
                        const FoldTreePtr& before)
{
    FoldTreePtr tree = FoldTree::build(model, plan, wrapsOf(model, recipe));
    return before && sameTree(*tree, *before) ? before : tree;
}

Document::Document(QObject* parent)
    : QObject(parent)
{
}

QString Document::title() const
{
    if (!m_model)
        return {};
    const auto& info = m_model->info();
    const QString file = QFileInfo(QString::fromStdString(info.path)).fileName();
    return file.isEmpty() ? QString::fromStdString(info.name) : file;
}

void Document::setModel(GraphPtr model, const Recipe& recipe, FoldTreePtr hierarchy)
{
    m_model = std::move(model);
    ++m_modelNumber;
    m_hierarchy = std::move(hierarchy);
    if (m_model && !m_hierarchy)
        m_hierarchy = hierarchyOf(*m_model, nullptr, recipe);
    m_lastRevision = 1;
    m_recipe = {recipe, 1};
    m_plan = {};
    m_calibration = {};
    m_converted = {};
    m_comparison = {};
    m_exported = {};
    m_nodeData.reset();
    m_scalars.reset();
    m_settings = {};
    Q_EMIT modelChanged();
    Q_EMIT recipeChanged();
    Q_EMIT planChanged();
    Q_EMIT resultsChanged();
    Q_EMIT settingsChanged();
}

void Document::setRecipe(const Recipe& recipe)
{
    if (recipe == m_recipe.recipe)
        return;
    m_recipe = {recipe, ++m_lastRevision};
    Q_EMIT recipeChanged();
    Q_EMIT resultsChanged();
}

void Document::restoreRecipe(const RecipeSnapshot& snapshot)
{
    m_recipe = snapshot;
    m_lastRevision = std::max(m_lastRevision, snapshot.revision);
    Q_EMIT recipeChanged();
    Q_EMIT resultsChanged();
}

void Document::setPlan(PlanPtr plan, int revision, FoldTreePtr hierarchy)
{
    m_plan = {std::move(plan), revision};
    m_hierarchy = hierarchy
        ? std::move(hierarchy)
        : hierarchyOf(*m_model, m_plan.value.get(), m_recipe.recipe, m_hierarchy);
    Q_EMIT planChanged();
}

void Document::refineModel(GraphPtr model, PlanPtr plan, int revision)
{
    m_model = std::move(model);
    setPlan(std::move(plan), revision);
}

void Document::setCalibration(CalibrationPtr calibration, int revision)
{
    m_calibration = {std::move(calibration), revision};
    Q_EMIT resultsChanged();
}

void Document::setConverted(ConvertedPtr converted, int revision)
{
    m_converted = {std::move(converted), revision};
    Q_EMIT resultsChanged();
}

void Document::setComparison(ComparisonPtr comparison, int revision)
{
    m_comparison = {std::move(comparison), revision};
    Q_EMIT resultsChanged();
}

void Document::setExported(ExportReport report, int revision)
{
    m_exported = {std::move(report), revision};
    Q_EMIT resultsChanged();
}

void Document::setNodeData(NodeDataPtr data)
{
    m_nodeData = std::move(data);
    Q_EMIT resultsChanged();
}

void Document::setScalars(ScalarTextsPtr scalars)
{
    m_scalars = std::move(scalars);
    Q_EMIT resultsChanged();
}

void Document::setSettings(const RunSettings& settings)
{
    if (settings == m_settings)
        return;
    m_settings = settings;
    Q_EMIT settingsChanged();
}

int Document::resultRevision(Stage stage) const
{
    switch (stage) {
    case Stage::Open:
    case Stage::Backend:
        return m_model ? m_recipe.revision : 0;
    case Stage::Plan:
        return m_plan.revision;
    case Stage::Calibrate:
        return m_calibration.revision;
    case Stage::Convert:
        return m_converted.revision;
    case Stage::Compare:
        return m_comparison.revision;
    case Stage::Export:
        return m_exported.revision;
    }
    return 0;
}

bool Document::hasResult(Stage stage) const
{
    return resultRevision(stage) > 0;
}

bool Document::isStale(Stage stage) const
{
    const int revision = resultRevision(stage);
    return revision > 0 && revision != m_recipe.revision;
}

} // namespace qs
