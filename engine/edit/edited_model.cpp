// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/edited_model.h"

#include "engine/base/key.h"
#include "engine/configure/edit_step_json.h"
#include "engine/edit/edit_functions.h"

#include <unordered_set>

namespace qs {

namespace {

/// The graph with the key of the edits that made it: results of other edits are never taken for its
/// own.
GraphPtr marked(Graph graph, std::span<const EditStep> steps)
{
    GraphEdit edit(graph);
    ModelInfo info = graph.info();
    info.edits = KeyBuilder("edits").add(editsToJson({steps.begin(), steps.end()}).dump()).key();
    edit.setInfo(std::move(info));
    return std::make_shared<const Graph>(edit.build());
}

} // namespace

std::vector<NodeId> EditedModel::touched() const
{
    std::vector<NodeId> out;
    std::unordered_set<NodeId> seen;
    for (const EditOutcome& outcome : outcomes)
        for (const NodeId id : outcome.touched)
            if (graph->tryGet(id) && seen.insert(id).second)
                out.push_back(id);
    return out;
}

Result<EditedModelPtr> editModel(GraphPtr file, std::span<const EditStep> steps,
                                 const JobContext& job)
{
    auto untouched = std::make_shared<EditedModel>();
    untouched->addresses = std::make_shared<const Addresses>(*file);
    untouched->graph = file;
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
        Addresses addresses = *out->addresses;
        EditDraft draft(out->graph, addresses, job);
        EditOutcome outcome;
        auto touched = applyEdit(draft, steps[i]);
        auto graph = touched ? draft.build() : Result<Graph>(fail(touched.error()));
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
        out->outcomes.push_back(std::move(outcome));
    }
    if (changed)
        out->graph = marked(*out->graph, steps);
    return out;
}

std::vector<std::string> unfitEdits(const EditedModel& model, std::span<const EditStep> steps)
{
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < model.outcomes.size() && i < steps.size(); ++i)
        if (const std::string& problem = model.outcomes[i].problem; !problem.empty())
            lines.push_back("edit " + std::to_string(i + 1) + ", " + editText(steps[i])
                            + ", does not fit this model and was left out: " + problem);
    return lines;
}

} // namespace qs
