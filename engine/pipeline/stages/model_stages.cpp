// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/stages/model_stages.h"

#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/observed_types.h"
#include "engine/compare/collect_inputs.h"
#include "engine/configure/backend/target.h"
#include "engine/configure/custom_config.h"
#include "engine/configure/extension_packs.h"
#include "engine/configure/json/cure_json.h"
#include "engine/convert/convert.h"
#include "engine/custom_modules/attention/quantizable_attention.h"
#include "engine/custom_modules/gather_modules.h"
#include "engine/edit/cures/model_cures.h"
#include "engine/execute/fill_shapes.h"
#include "engine/execute/random/random_draws.h"
#include "engine/export/exporter.h"
#include "engine/extensions/classes/split_objects.h"
#include "engine/graph/pass.h"
#include "engine/pipeline/checks.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/plan/cures/expand_cures.h"
#include "engine/plan/planner.h"

#include <algorithm>

namespace qs {

namespace {

/// Approximate size, for the limit of the cache.
std::size_t bytesOf(const Plan& plan)
{
    std::size_t numbers = 0;
    for (const auto& layer : plan.numbers)
        numbers += layer->steps ? layer->steps->bytes.size() : 0;
    return plan.nodes.size() * 1024 + numbers;
}

bool hasEffect(const std::vector<Cure>& cures)
{
    return std::any_of(cures.begin(), cures.end(), [](const Cure& cure) { return !cure.off; });
}

/// Null for a cure that does not change the model.
const CureOutcome* outcomeOf(const EditedModel& edited, const Cure& cure)
{
    const auto found = std::ranges::find(edited.cures, countedCures({cure}), [](const auto& done) {
        return std::vector<Cure> {done.cure};
    });
    return found == edited.cures.end() ? nullptr : &*found;
}

/// Key of a model's file and edits: equal for a model and its refinements by runs.
Key placesKey(const Graph& model)
{
    return KeyBuilder("places").add(model.info().sha256).add(model.info().edits).key();
}

} // namespace

Result<EditedModelPtr> ModelStages::edited(GraphPtr file, const Recipe& recipe,
                                           const JobContext& job)
{
    const std::span<const EditStep> steps(recipe.edits);
    const auto keyOf = [&](std::size_t count) {
        return KeyBuilder("edited")
            .add(modelKey(*file))
            .add(editsToJson({steps.begin(), steps.begin() + std::ptrdiff_t(count)}).dump())
            .key();
    };
    // Starts from the longest cached prefix of the edits: all of them after undo or redo, all but
    // the last after a further edit.
    std::shared_ptr<const EditedModel> from;
    for (std::size_t count = steps.size() + 1; count-- > 0 && !from;)
        if (auto kept = m_memo.find<EditedModel>(keyOf(count)); kept && kept->file == file)
            from = kept;
    QS_TRY(EditedModelPtr edited,
           from ? editFurther(from, steps, job) : editModel(file, steps, job));
    m_memo.keep<EditedModel>(keyOf(steps.size()), edited, edited->graph->nodes().size() * 1024);
    QS_TRY(edited, cured(std::move(edited), recipe, job));
    QS_TRY(edited, gathered(std::move(edited), recipe));
    rememberEdited(edited);
    return edited;
}

Result<EditedModelPtr> ModelStages::cured(EditedModelPtr edited, const Recipe& recipe,
                                          const JobContext& job)
{
    std::vector<Cure> cures = modelCures(recipe);
    if (cures.empty())
        return edited;
    const Key key
        = KeyBuilder("cured").add(modelKey(*edited->graph)).add(curesToJson(cures).dump()).key();
    if (auto kept = m_memo.find<EditedModel>(key); kept && kept->file == edited->file)
        return kept;
    QS_TRY(EditedModelPtr made, withModelCures(edited, std::move(cures), job));
    m_memo.keep<EditedModel>(key, made, made->graph->nodes().size() * 1024);
    return made;
}

Result<EditedModelPtr> ModelStages::gathered(EditedModelPtr edited, const Recipe& recipe)
{
    const auto wanted = customModulesWanted(recipe.prepare);
    if (wanted.empty() && loadedPacks().empty())
        return edited;
    KeyBuilder made("gathered");
    made.add(modelKey(*edited->file)).add(editsToJson(recipe.edits).dump());
    made.add(curesToJson(modelCures(recipe)).dump());
    for (const std::string& name : wanted)
        made.add(name);
    const Key key = made.key();
    if (auto kept = m_memo.find<EditedModel>(key); kept && kept->file == edited->file)
        return kept;
    std::vector<Pass> passes;
    if (std::find(wanted.begin(), wanted.end(), kAttentionClass) != wanted.end())
        passes.emplace_back("quantizable-attention", makeAttentionQuantizable);
    passes.emplace_back("gather-modules", gatherModules, PassTraits {.isNeeded = false});
    passes.emplace_back("split-objects", splitObjects, PassTraits {.isNeeded = false});
    QS_TRY(GraphPtr graph, runPasses(edited->graph, passes));
    if (graph == edited->graph)
        return edited;
    auto whole = std::make_shared<EditedModel>(*edited);
    whole->graph = std::move(graph);
    m_memo.keep<EditedModel>(key, whole, whole->graph->nodes().size() * 1024);
    return whole;
}

Result<CureExpansionPtr> ModelStages::cures(const GraphPtr& model, const Recipe& recipe,
                                            const JobContext& job)
{
    Recipe uncured = recipe;
    uncured.cures.clear();
    if (!hasEffect(recipe.cures))
        return std::make_shared<const CureExpansion>(CureExpansion {std::move(uncured), {}, {}});
    QS_TRY(const PlanPtr plan, this->plan(model, uncured, job));
    const EditedModelPtr edited = editedAs(*model);
    if (!edited && !model->info().edits.empty())
        return fail(ErrorCode::BadInput,
                    "the recipe's cures name operators of a file that is not known any more");
    const Addresses addresses = edited ? *edited->addresses : Addresses(model);
    std::vector<CurePlace> places = locateCures(model, addresses, recipe.cures);
    for (CurePlace& place : places)
        if (const CureOutcome* done
            = edited ? outcomeOf(*edited, recipe.cures.at(place.cure)) : nullptr) {
            place.problem = done->problem;
            for (const NodeId id : done->touched)
                if (edited->file->tryGet(id) == nullptr)
                    place.added.push_back(id);
        }
    CureExpansion made
        = expandCures(*model, *plan, recipe, std::move(places), quotedNames(*model, addresses));
    return std::make_shared<const CureExpansion>(std::move(made));
}

void ModelStages::rememberEdited(const EditedModelPtr& edited)
{
    const std::lock_guard lock(m_editedMutex);
    std::erase_if(m_edited, [](const auto& entry) { return entry.second.expired(); });
    m_edited[placesKey(*edited->graph)] = edited;
}

EditedModelPtr ModelStages::editedAs(const Graph& model)
{
    EditedModelPtr edited;
    {
        const std::lock_guard lock(m_editedMutex);
        if (const auto found = m_edited.find(placesKey(model)); found != m_edited.end())
            edited = found->second.lock();
    }
    // A text file has no hash: its nodes are compared instead.
    const auto isAlike = [](const NodePtr& a, const NodePtr& b) {
        return a->id == b->id && a->name == b->name && a->target == b->target;
    };
    const bool isOfIt
        = edited && std::ranges::equal(edited->graph->nodes(), model.nodes(), isAlike);
    return isOfIt ? edited : nullptr;
}

Result<PlanPtr> ModelStages::plan(const GraphPtr& model, const Recipe& recipe,
                                  const JobContext& job)
{
    QS_CHECK(checkPacksLoaded(recipe.extensions));
    QS_CHECK(checkTargetNamed(recipe));
    QS_TRY(Backend found, findBackend(recipe.target()));
    const Backend backend = withPackPatterns(std::move(found));
    QS_CHECK(checkLoweringKernels(recipe));
    const Key key = planKey(*model, recipe);
    if (auto kept = m_memo.find<Plan>(key))
        return kept;
    CureExpansionPtr cured;
    if (hasEffect(recipe.cures)) {
        QS_TRY(cured, cures(model, recipe, job));
    }
    QS_TRY(Plan made, makePlan(*model, cured ? cured->recipe : recipe, backend, job));
    if (cured) {
        made.warnings.insert(made.warnings.end(), cured->problems.begin(), cured->problems.end());
        for (const LayerNumbers& numbers : cured->numbers)
            made.numbers.push_back(std::make_shared<const LayerNumbers>(numbers));
    }
    if (std::string drawing = drawingWarning(*model); !drawing.empty())
        made.warnings.push_back(std::move(drawing));
    auto plan = std::make_shared<const Plan>(std::move(made));
    m_memo.keep<Plan>(key, plan, bytesOf(*plan));
    return plan;
}

Result<GraphPtr> ModelStages::typed(GraphPtr model, const Recipe& recipe,
                                    const RunSettings& settings, const JobContext& job)
{
    std::vector<CorrectedShape> corrected;
    {
        const std::lock_guard lock(m_shapesMutex);
        const auto found
            = m_corrected.empty() ? m_corrected.end() : m_corrected.find(modelKey(*model));
        if (found != m_corrected.end())
            corrected = found->second;
    }
    const bool isUntyped = countUntyped(*model) > 0;
    if (!isUntyped && corrected.empty())
        return model;
    QS_TRY(const Key content, m_hashes.of(settings.calibrationData, model->info().sha256, job));
    const CalibrationSettings& cut = recipe.calibration;
    const Key key = KeyBuilder("typed")
                        .add(modelKey(*model))
                        .add(batchesKey(content, cut, 1))
                        .add(std::int64_t(corrected.size()))
                        .key();
    if (auto kept = m_memo.find<Graph>(key))
        return kept;
    GraphPtr typed = model;
    if (isUntyped) {
        QS_TRY(const auto opened, data(*model, settings.calibrationData, cut));
        QS_TRY(typed, withObservedTypes(model, *opened, job));
    }
    typed = withCorrectedShapes(typed, corrected);
    m_memo.keep<Graph>(key, typed, typed->nodes().size() * 1024);
    return typed;
}

Result<GraphPtr> ModelStages::shaped(GraphPtr model, const Recipe& recipe,
                                     const RunSettings& settings, const JobContext& job)
{
    if (!lacksShapes(*model))
        return model;
    QS_TRY(const auto opened, data(*model, settings.calibrationData, recipe.calibration));
    QS_TRY(const Batch first, opened->batch(0));
    QS_TRY(Graph shaped, withShapes(model, first.inputs, job));
    return std::make_shared<const Graph>(std::move(shaped));
}

Result<void> ModelStages::saveModel(const GraphPtr& model, const Recipe& recipe,
                                    const RunSettings& settings, const std::string& path,
                                    const JobContext& job)
{
    job.report("export", path, 0);
    if (lacksShapes(*model) && settings.calibrationData.empty())
        return fail(
            makeError(ErrorCode::Unsupported, "the file holds no shapes, which a .pt2 needs")
                .inFile(model->info().path)
                .withHint("choose data (--data): their first batch shows them"));
    QS_TRY(const GraphPtr whole, shaped(model, recipe, settings, job));
    return savePt2(*whole, path, job);
}

Result<void> ModelStages::savePartInputs(const EditedModelPtr& part, const Recipe& recipe,
                                         const RunSettings& settings, const std::string& path,
                                         const JobContext& job)
{
    CalibrationSettings all = recipe.calibration;
    all.batches = 0;
    QS_TRY(const auto opened, data(*part->file, settings.calibrationData, all));
    return writePartInputs(*part, *opened, path, job);
}

} // namespace qs
