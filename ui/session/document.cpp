// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/document.h"

#include <QFileInfo>

namespace qs {

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

void Document::setModel(GraphPtr model, const Recipe& recipe)
{
    m_model = std::move(model);
    m_lastRevision = 1;
    m_recipe = {recipe, 1};
    m_plan = {};
    m_calibration = {};
    m_converted = {};
    m_comparison = {};
    m_exported = {};
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

void Document::setPlan(PlanPtr plan, int revision)
{
    m_plan = {std::move(plan), revision};
    Q_EMIT planChanged();
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
