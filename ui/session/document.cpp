// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/document.h"

#include "engine/configure/custom_config.h"
#include "engine/configure/extension_packs.h"
#include "engine/edit/cures/model_cures.h"
#include "engine/pipeline/tune/search_summary.h"
#include "engine/plan/block/prepare_settings.h"

#include <QFileInfo>

#include <algorithm>

namespace qs {

namespace {

bool sameTree(const FoldTree& a, const FoldTree& b)
{
    const auto same = [](const FoldEntry& x, const FoldEntry& y) {
        return x.kind == y.kind && x.parent == y.parent && x.label == y.label
            && x.children == y.children && std::ranges::equal(x.members, y.members)
            && x.path == y.path && x.wrap == y.wrap;
    };
    bool out = a.size() == b.size();
    for (int i = 0; out && i < int(a.size()); ++i)
        out = same(a.entry(i), b.entry(i));
    return out;
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
    const auto on = [this](Notice notice, void (Document::*signal)()) {
        m_notices.deliverWith(notice, [this, signal] { Q_EMIT(this->*signal)(); });
    };
    on(Notice::Model, &Document::modelChanged);
    on(Notice::Graph, &Document::graphEdited);
    on(Notice::Recipe, &Document::recipeChanged);
    on(Notice::Settings, &Document::settingsChanged);
    on(Notice::Plan, &Document::planChanged);
    on(Notice::Results, &Document::resultsChanged);
    on(Notice::Saved, &Document::savedChanged);
}

QString Document::title() const
{
    if (!m_model)
        return {};
    const auto& info = m_model->info();
    const QString file = QFileInfo(QString::fromStdString(info.path)).fileName();
    return file.isEmpty() ? QString::fromStdString(info.name) : file;
}

GraphMaking GraphMaking::of(const Recipe& recipe)
{
    return {recipe.edits, modelCures(recipe), customModulesWanted(recipe.prepare),
            loadedPacksKey()};
}

void Document::setModel(GraphPtr model, const Recipe& recipe, FoldTreePtr hierarchy,
                        EditedModelPtr edited, std::optional<GraphMaking> made)
{
    if (model && !edited)
        edited = editModel(std::move(model), {}).value(); // no edits: cannot fail
    m_edited = std::move(edited);
    m_model = m_edited ? m_edited->graph : nullptr;
    m_made = made ? std::move(*made) : GraphMaking::of(recipe);
    ++m_modelNumber;
    m_hierarchy = std::move(hierarchy);
    if (m_model && !m_hierarchy)
        m_hierarchy = hierarchyOf(*m_model, nullptr, recipe);
    m_recipe = recipe;
    m_plan = {};
    m_calibration = {};
    m_converted = {};
    m_comparison = {};
    m_preview = {};
    m_diagnosis = {};
    m_evaluation = {};
    m_searchBeside.clear();
    m_storedSearch.reset();
    m_exported = {};
    m_nodeData.reset();
    m_scalars.reset();
    m_settings = {};
    m_data = {};
    updateKeys();
    m_notices.post(
        {Notice::Model, Notice::Recipe, Notice::Settings, Notice::Plan, Notice::Results});
}

void Document::updateKeys()
{
    if (m_model)
        m_keys = decisionKeys(m_model->info().sha256, m_recipe, m_settings, m_data);
}

void Document::setRecipe(const Recipe& recipe, const QString& step)
{
    if (recipe == m_recipe)
        return;
    Q_EMIT recipeToChange(recipe, step);
    m_recipe = recipe;
    updateKeys();
    m_notices.post({Notice::Recipe, Notice::Results, Notice::Saved});
}

void Document::setSettings(const RunSettings& settings)
{
    if (settings == m_settings)
        return;
    m_settings = settings;
    m_data = DataState::of(settings);
    updateKeys();
    m_notices.post({Notice::Settings, Notice::Results, Notice::Saved});
}

void Document::refreshKeys()
{
    if (!m_model)
        return;
    const DecisionKeys before = m_keys;
    m_data = DataState::of(m_settings);
    updateKeys();
    if (before.comparison != m_keys.comparison || before.plan != m_keys.plan)
        m_notices.post({Notice::Results});
}

void Document::takePlan(PlanPtr plan, const DecisionKeys& keys, FoldTreePtr hierarchy)
{
    m_plan = {std::move(plan), keys};
    m_hierarchy = hierarchy ? std::move(hierarchy)
                            : hierarchyOf(*m_model, m_plan.value.get(), m_recipe, m_hierarchy);
}

void Document::setPlan(PlanPtr plan, const DecisionKeys& keys, FoldTreePtr hierarchy)
{
    takePlan(std::move(plan), keys, std::move(hierarchy));
    m_notices.post({Notice::Plan});
}

bool Document::isGraphStale() const
{
    return GraphMaking::of(m_recipe) != m_made;
}

void Document::setEdited(EditedModelPtr edited, PlanPtr plan, const DecisionKeys& keys,
                         GraphMaking made, FoldTreePtr hierarchy)
{
    const bool isSameGraph = m_edited && edited->graph == m_model; // edits of converted forms
    m_edited = std::move(edited);
    m_model = m_edited->graph;
    m_made = std::move(made);
    if (!isSameGraph) {
        m_calibration = {};
        m_converted = {};
        m_comparison = {};
        m_preview = {};
        m_diagnosis = {};
        m_nodeData.reset();
        m_scalars.reset();
    }
    takePlan(std::move(plan), keys, std::move(hierarchy));
    m_notices.post({Notice::Graph, Notice::Plan, Notice::Results});
}

void Document::refineModel(GraphPtr model, PlanPtr plan, const DecisionKeys& keys)
{
    m_model = std::move(model);
    setPlan(std::move(plan), keys);
}

void Document::setCalibration(CalibrationPtr calibration, const DecisionKeys& keys)
{
    m_calibration = {std::move(calibration), keys};
    m_notices.post({Notice::Results});
}

void Document::setConverted(ConvertedPtr converted, const DecisionKeys& keys)
{
    m_converted = {std::move(converted), keys};
    m_notices.post({Notice::Results});
}

void Document::setComparison(ComparisonPtr comparison, const DecisionKeys& keys)
{
    m_comparison = {std::move(comparison), keys};
    m_notices.post({Notice::Results});
}

PreviewPtr Document::preview() const
{
    return m_preview.keys && m_preview.keys->comparison == m_keys.comparison ? m_preview.value
                                                                             : nullptr;
}

void Document::setPreview(PreviewPtr preview, const DecisionKeys& keys)
{
    m_preview = {std::move(preview), keys};
    m_notices.post({Notice::Results});
}

void Document::setDiagnosis(DiagnosisPtr diagnosis, const DecisionKeys& keys)
{
    m_diagnosis = {std::move(diagnosis), keys};
    m_notices.post({Notice::Results});
}

bool Document::isDiagnosisStale() const
{
    return m_diagnosis.keys && !isSame(Stage::Compare, *m_diagnosis.keys);
}

QString Document::diagnosisStaleReason() const
{
    return isDiagnosisStale() ? whatChanged(*m_diagnosis.keys) : QString();
}

std::optional<Evaluation> Document::evaluationOf(const DecisionKeys& made) const
{
    return m_evaluation.keys && m_evaluation.keys->comparison == made.comparison
        ? std::optional(m_evaluation.value)
        : std::nullopt;
}

void Document::setEvaluation(const Evaluation& evaluation, const DecisionKeys& keys)
{
    m_evaluation = {evaluation, keys};
    m_notices.post({Notice::Results});
}

std::shared_ptr<const ResultDocument::Json> Document::searchSummary() const
{
    auto found = m_edited ? qs::searchSummary(m_searchBeside, *m_edited->file, m_recipe) : nullptr;
    return found || m_recipe != m_storedSearchOf ? found : m_storedSearch;
}

void Document::setSearchSummary(std::shared_ptr<const ResultDocument::Json> summary)
{
    m_storedSearch = std::move(summary);
    m_storedSearchOf = m_recipe;
}

void Document::setExported(ExportReport report, const DecisionKeys& keys)
{
    m_exported = {std::move(report), keys};
    m_notices.post({Notice::Results});
}

void Document::setNodeData(NodeDataPtr data)
{
    m_nodeData = std::move(data);
    m_notices.post({Notice::Results});
}

void Document::setScalars(ScalarTextsPtr scalars)
{
    m_scalars = std::move(scalars);
    m_notices.post({Notice::Results});
}

const DecisionKeys* Document::keysOf(Stage stage) const
{
    const auto of = [](const auto& made) { return made.keys ? &*made.keys : nullptr; };
    switch (stage) {
    case Stage::Open:
    case Stage::Backend:
        return m_model ? &m_keys : nullptr;
    case Stage::Plan:
        return of(m_plan);
    case Stage::Calibrate:
        return of(m_calibration);
    case Stage::Convert:
        return of(m_converted);
    case Stage::Compare:
        return of(m_comparison);
    case Stage::Export:
        return of(m_exported);
    }
    return nullptr;
}

bool Document::hasResult(Stage stage) const
{
    return keysOf(stage) != nullptr;
}

bool Document::isStale(Stage stage) const
{
    const DecisionKeys* made = keysOf(stage);
    return made && !isSame(stage, *made);
}

bool Document::isSame(Stage stage, const DecisionKeys& made) const
{
    switch (stage) {
    case Stage::Open:
    case Stage::Backend:
        return true;
    case Stage::Plan:
        return made.plan == m_keys.plan;
    case Stage::Calibrate:
        return made.calibration == m_keys.calibration;
    case Stage::Convert:
    case Stage::Export:
        return made.conversion == m_keys.conversion;
    case Stage::Compare:
        return made.comparison == m_keys.comparison;
    }
    return true;
}

QString Document::staleReason(Stage stage) const
{
    const DecisionKeys* made = keysOf(stage);
    if (!made || !isStale(stage))
        return {};
    return whatChanged(*made);
}

QString Document::whatChanged(const DecisionKeys& made) const
{
    if (made.planning != m_keys.planning)
        return tr("recipe changed");
    if (made.calibrationData != m_keys.calibrationData)
        return tr("data changed");
    if (made.cut != m_keys.cut)
        return tr("batches changed");
    if (made.lowering != m_keys.lowering)
        return tr("lowering changed");
    if (made.against != m_keys.against)
        return tr("measured against the %1 model").arg(QString::fromStdString(made.against));
    return tr("comparison data changed");
}

std::string Document::comparedOn() const
{
    return m_comparison.keys ? m_comparison.keys->compared : std::string();
}

Key Document::savedKey() const
{
    return contentKey(m_recipe, m_keepsSettings ? m_settings : RunSettings());
}

bool Document::isModified() const
{
    return m_model && savedKey() != m_saved;
}

void Document::markUnsaved()
{
    m_keepsSettings = true;
    m_saved = {};
    m_notices.post({Notice::Saved});
}

void Document::markSaved(bool keepsSettings)
{
    m_keepsSettings = keepsSettings;
    m_saved = savedKey();
    m_notices.post({Notice::Saved});
}

} // namespace qs
