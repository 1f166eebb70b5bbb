// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/edited_model.h"

#include "engine/base/key.h"
#include "engine/configure/json/cure_json.h"
#include "engine/configure/json/edit_step_json.h"
#include "engine/edit/edit_functions.h"
#include "engine/edit/edit_titles.h"
#include "engine/edit/half_precision.h"
#include "engine/graph/operators/quantized_target.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace qs {

namespace {

/// Returns the model's cures as text, for keys.
std::string curesText(const EditedModel& model)
{
    std::vector<Cure> cures;
    for (const CureOutcome& outcome : model.cures)
        cures.push_back(outcome.cure);
    return curesToJson(cures).dump();
}

/// Returns the graph with the key of its edits, so that cached results of other edits are never
/// used.
GraphPtr marked(const EditedModel& model, std::span<const EditStep> steps)
{
    GraphEdit edit(*model.graph);
    ModelInfo info = model.graph->info();
    std::vector<EditStep> own;
    for (const EditStep& step : steps)
        if (isEditOf(step, model))
            own.push_back(step);
    KeyBuilder key("edits");
    key.add(editsToJson(own).dump());
    if (!model.cures.empty())
        key.add(curesText(model));
    if (const std::string& before = model.file->info().edits; !before.empty())
        key.add(before);
    info.edits = key.key();
    edit.setInfo(std::move(info));
    return std::make_shared<const Graph>(edit.build());
}

/// Returns the values in each argument of the Output node.
std::vector<std::vector<const Argument*>> returned(const Graph& graph)
{
    const auto flatten = [](const Argument& argument, std::vector<const Argument*>& out,
                            const auto& self) -> void {
        if (const auto* list = argument.asList())
            for (const Argument& item : *list)
                self(item, out, self);
        else
            out.push_back(&argument);
    };
    std::vector<std::vector<const Argument*>> out;
    for (const NamedArgument& argument : graph.output().args)
        flatten(argument.value, out.emplace_back(), flatten);
    return out;
}

/// Maps the outputs after the edit to the file's outputs. A reconnected output keeps its index; an
/// extracted part returns its results, some of which may be outputs of the whole model.
std::vector<int> placesAfter(const std::vector<int>& places, const Graph& before,
                             const EditStep& step, const Graph& after)
{
    const auto was = returned(before), is = returned(after);
    std::vector<int> out;
    if (step.kind == EditKind::Extract) {
        std::map<ValueRef, int> known;
        std::size_t at = 0;
        for (const auto& values : was)
            for (const Argument* value : values) {
                if (const ValueRef* ref = value->asRef())
                    known.emplace(*ref, places[at]);
                ++at;
            }
        for (const auto& values : is)
            for (const Argument* value : values) {
                const ValueRef* ref = value->asRef();
                const auto found = ref ? known.find(*ref) : known.end();
                out.push_back(found == known.end() ? -1 : found->second);
            }
        return out;
    }
    std::size_t at = 0;
    for (std::size_t i = 0; i < was.size(); ++i, at += was[i - 1].size())
        if (step.kind != EditKind::DropOutput || int(i) != step.item)
            out.insert(out.end(), places.begin() + std::ptrdiff_t(at),
                       places.begin() + std::ptrdiff_t(at + was[i].size()));
    if (step.kind == EditKind::AddOutput)
        out.push_back(-1);
    return out;
}

} // namespace

std::vector<NodeId> EditedModel::touched() const
{
    std::vector<NodeId> out;
    std::unordered_set<NodeId> seen;
    const auto add = [&](const std::vector<NodeId>& nodes) {
        for (const NodeId id : nodes)
            if (graph->tryGet(id) && seen.insert(id).second)
                out.push_back(id);
    };
    for (const EditOutcome& outcome : outcomes)
        add(outcome.touched);
    for (const CureOutcome& outcome : cures)
        add(outcome.touched);
    return out;
}

GraphPtr withCuresMarked(const EditedModel& model)
{
    GraphEdit edit(*model.graph);
    ModelInfo info = model.graph->info();
    info.edits = KeyBuilder("cures").add(info.edits).add(curesText(model)).key();
    info.trained = std::any_of(model.cures.begin(), model.cures.end(), [](const auto& outcome) {
        return outcome.cure.kind == CureKind::Train && outcome.problem.empty();
    });
    edit.setInfo(std::move(info));
    return std::make_shared<const Graph>(edit.build());
}

EditForm formHeld(const Graph& file)
{
    if (!file.info().converted)
        return EditForm::Float;
    const auto nodes = file.nodes();
    return std::any_of(nodes.begin(), nodes.end(),
                       [](const NodePtr& node) { return isReferenceStep(node->target); })
        ? EditForm::Reference
        : EditForm::Lowered;
}

bool isEditOf(const EditStep& step, const EditedModel& model)
{
    return step.form == model.form
        || (model.form == EditForm::Float && step.form == formHeld(*model.file));
}

namespace {

/// Returns why an edit can never apply to this model because of its form; empty if it can, or if it
/// belongs to another form.
std::string misplaced(const EditStep& step, const EditedModel& model)
{
    const EditForm held = formHeld(*model.file);
    const bool isLeftOver = model.form == EditForm::Float && held != EditForm::Float;
    if (!isEditOf(step, model))
        return isLeftOver ? "the file contains only the " + std::string(editFormName(held))
                + " form; edit the model that it was converted from"
                          : "";
    if (model.form == EditForm::Float || step.kind != EditKind::AsFloat32)
        return {};
    for (const Node* input : model.graph->inputs())
        if (isHalfPrecision(input->outputs.at(0).type.dtype))
            return "the model's input '" + input->name
                + "' is of half precision, which all forms read; leave out 'form' to take the "
                  "model in float32";
    return {};
}

} // namespace

Result<EditedModelPtr> editModel(GraphPtr file, std::span<const EditStep> steps,
                                 const JobContext& job, EditForm form)
{
    auto untouched = std::make_shared<EditedModel>();
    untouched->form = form;
    untouched->addresses = std::make_shared<const Addresses>(file);
    untouched->graph = file;
    for (const auto& values : returned(*file))
        for (std::size_t i = 0; i < values.size(); ++i)
            untouched->outputPlaces.push_back(int(untouched->outputPlaces.size()));
    untouched->file = std::move(file);
    return editFurther(untouched, steps, job);
}

Result<EditedModelPtr> editFurther(const EditedModelPtr& done, std::span<const EditStep> steps,
                                   const JobContext& job)
{
    if (steps.size() == done->outcomes.size())
        return done;
    auto out = std::make_shared<EditedModel>(*done);
    bool changed = false;
    for (std::size_t i = done->outcomes.size(); i < steps.size(); ++i) {
        QS_CHECK(job.check());
        if (std::string why = misplaced(steps[i], *out);
            !why.empty() || !isEditOf(steps[i], *out)) {
            out->outcomes.push_back({{}, std::move(why)});
            continue;
        }
        Addresses addresses = *out->addresses;
        EditDraft draft(out->graph, addresses, job);
        EditOutcome outcome;
        auto touched = applyEdit(draft, steps[i]);
        auto graph = touched ? draft.build() : Result<Graph>(fail(touched.error()));
        if (graph) {
            outcome.touched = std::move(*touched);
            if (steps[i].kind == EditKind::Extract)
                out->extractions.push_back({out->graph, std::move(draft.fed())});
            out->outputPlaces = placesAfter(out->outputPlaces, *out->graph, steps[i], *graph);
            out->graph = std::make_shared<const Graph>(std::move(*graph));
            out->addresses = std::make_shared<const Addresses>(std::move(addresses));
            changed = true;
        } else if (graph.error().code == ErrorCode::Cancelled) {
            return fail(graph.error());
        } else {
            outcome.problem = graph.error().line();
        }
        out->outcomes.push_back(std::move(outcome));
    }
    if (changed)
        out->graph = marked(*out, steps);
    return out;
}

std::vector<std::string> unfitEdits(const EditedModel& model, std::span<const EditStep> steps)
{
    const EditTitles titles(model);
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < model.outcomes.size() && i < steps.size(); ++i)
        if (const std::string& problem = model.outcomes[i].problem; !problem.empty())
            lines.push_back("edit " + std::to_string(i + 1) + ", " + titles.of(steps[i])
                            + ", does not fit this model and was left out: " + problem);
    return lines;
}

} // namespace qs
