// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/cures/model_cures.h"

#include "engine/configure/json/cure_json.h"
#include "engine/edit/cures/channel_chain.h"
#include "engine/edit/cures/cure_functions.h"
#include "engine/edit/cures/locate_cures.h"

#include <algorithm>
#include <utility>

namespace qs {

namespace {

/// True for cures that change the model. Excludes a split without its qconfig: its input would keep
/// the range of all channels.
bool isOfModel(const Cure& cure, const Recipe& recipe)
{
    return cure.kind == CureKind::Bound || cure.kind == CureKind::Train
        || cure.kind == CureKind::Equalize || cure.kind == CureKind::Smooth
        || (cure.kind == CureKind::Split
            && (cure.qconfig.empty() || findQConfig(recipe, cure.qconfig)));
}

Result<EditedNodes> applyCure(EditDraft& draft, const Cure& cure)
{
    switch (cure.kind) {
    case CureKind::Bound:
        return boundConstant(draft, cure);
    case CureKind::Train:
        return takeTraining(draft, cure);
    case CureKind::Equalize:
        return equalizeLayers(draft, cure);
    case CureKind::Smooth:
        return smoothLayer(draft, cure);
    default:
        return splitLinears(draft, cure);
    }
}

} // namespace

std::vector<Cure> modelCures(const Recipe& recipe)
{
    std::vector<Cure> out = countedCures(recipe.cures);
    std::erase_if(out, [&](const Cure& cure) { return !isOfModel(cure, recipe); });
    return out;
}

Recipe withoutModelCures(Recipe recipe)
{
    std::vector<Cure> cures = std::move(recipe.cures);
    recipe.cures.clear();
    std::erase_if(cures, [&](const Cure& cure) { return isOfModel(cure, recipe); });
    recipe.cures = std::move(cures);
    return recipe;
}

bool changesModel(const Recipe& recipe)
{
    return !recipe.edits.empty() || !modelCures(recipe).empty();
}

const Cure* trainingOf(const Recipe& recipe)
{
    const auto found = std::find_if(recipe.cures.begin(), recipe.cures.end(),
                                    [](const Cure& cure) { return cure.kind == CureKind::Train; });
    return found == recipe.cures.end() ? nullptr : &*found;
}

Recipe untrained(Recipe recipe)
{
    std::erase_if(recipe.cures, [](const Cure& cure) { return cure.kind == CureKind::Train; });
    return recipe;
}

Recipe withTraining(Recipe recipe, Cure training)
{
    recipe = untrained(std::move(recipe));
    recipe.cures.push_back(std::move(training));
    return recipe;
}

Result<EditedModelPtr> withModelCures(const EditedModelPtr& edited, std::vector<Cure> cures,
                                      const JobContext& job)
{
    if (cures.empty())
        return edited;
    auto out = std::make_shared<EditedModel>(*edited);
    bool changed = false;
    for (Cure& cure : cures) {
        QS_CHECK(job.check());
        Addresses addresses = *out->addresses;
        EditDraft draft(out->graph, addresses, job);
        auto touched = applyCure(draft, cure);
        auto graph = touched ? draft.build() : Result<Graph>(fail(touched.error()));
        CureOutcome& outcome = out->cures.emplace_back();
        outcome.cure = std::move(cure);
        if (graph) {
            outcome.touched = std::move(*touched);
            out->graph = std::make_shared<const Graph>(std::move(*graph));
            out->addresses = std::make_shared<const Addresses>(std::move(addresses));
            changed = true;
        } else if (graph.error().code == ErrorCode::Cancelled) {
            return fail(graph.error());
        } else {
            outcome.problem = graph.error().line();
        }
    }
    if (changed)
        out->graph = withCuresMarked(*out);
    return out;
}

bool addsMultiplication(const EditedModel& model, const Cure& cure)
{
    if (cure.kind != CureKind::Smooth)
        return false;
    for (const CureOutcome& outcome : model.cures)
        if (outcome.cure.kind == cure.kind && outcome.cure.at == cure.at && outcome.problem.empty())
            return std::any_of(outcome.touched.begin(), outcome.touched.end(),
                               [&](NodeId id) { return model.file->tryGet(id) == nullptr; });
    const auto node = model.addresses->find(cure.at);
    if (!node || !model.graph->tryGet(*node))
        return false;
    const auto chain
        = dividedChain(GraphEdit(*model.graph), {*node, std::uint32_t(cure.at.output)});
    return chain && chain->multiplied;
}

std::vector<std::string> unfitModelCures(const EditedModel& model)
{
    std::vector<std::string> lines;
    for (const CureOutcome& outcome : model.cures)
        if (!outcome.problem.empty())
            lines.push_back(
                unfitCureLine(cureText(outcome.cure, quotedNames(*model.graph, *model.addresses)),
                              outcome.problem));
    return lines;
}

} // namespace qs
