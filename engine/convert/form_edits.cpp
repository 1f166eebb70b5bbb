// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/form_edits.h"

#include "engine/convert/convert.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

/// The value that readers of a removed operator read instead: its first input, followed to a value
/// that exists in `after`. Empty without an input.
std::optional<ValueRef> handedOn(ValueRef value, const Graph& before, const Graph& after)
{
    for (const Node* gone = before.tryGet(value.node); gone && !after.tryGet(value.node);
         gone = before.tryGet(value.node)) {
        std::optional<ValueRef> read;
        for (const NamedArgument& argument : gone->args)
            forEachRef(argument.value, [&](ValueRef ref) { read = read ? read : ref; });
        if (!read)
            return {};
        value = *read;
    }
    const Node* node = after.tryGet(value.node);
    return node && value.index < node->outputs.size() ? std::optional(value) : std::nullopt;
}

void follow(std::unordered_map<ValueRef, ValueRef>& places, const EditedModel& edited)
{
    const auto stays = [&](ValueRef value) {
        return edited.graph->tryGet(value.node) ? std::optional(value) : std::nullopt;
    };
    for (auto it = places.begin(); it != places.end();)
        // Operators outside an extracted part have no replacement.
        if (const auto now = edited.extractions.empty()
                ? handedOn(it->second, *edited.file, *edited.graph)
                : stays(it->second)) {
            it->second = *now;
            ++it;
        } else {
            it = places.erase(it);
        }
}

/// Nodes that the edits removed or changed.
std::unordered_set<NodeId> changedNodes(const EditedModel& edited)
{
    std::unordered_set<NodeId> changed;
    for (const EditOutcome& outcome : edited.outcomes)
        changed.insert(outcome.touched.begin(), outcome.touched.end());
    for (const NodePtr& node : edited.file->nodes())
        if (!edited.graph->tryGet(node->id))
            changed.insert(node->id);
    return changed;
}

Result<EditedModelPtr> editForm(const GraphPtr& form, EditForm which, const Recipe& recipe,
                                const JobContext& job)
{
    const bool isAsked = std::any_of(recipe.edits.begin(), recipe.edits.end(),
                                     [which](const EditStep& step) { return step.form == which; });
    return isAsked && form ? editModel(form, recipe.edits, job, which)
                           : Result<EditedModelPtr>(nullptr);
}

} // namespace

bool isFormEdit(const EditStep& step)
{
    return step.form != EditForm::Float;
}

Recipe withoutFormEdits(Recipe recipe)
{
    std::erase_if(recipe.edits, isFormEdit);
    return recipe;
}

Result<ConvertedPtr> withFormEdits(const ConvertedPtr& converted, const Recipe& recipe,
                                   const JobContext& job)
{
    if (std::none_of(recipe.edits.begin(), recipe.edits.end(), isFormEdit))
        return converted;
    registerQuantizedDecomposed();
    auto out = std::make_shared<ConvertedModel>(*converted);
    QS_TRY(out->referenceEdits, editForm(converted->reference, EditForm::Reference, recipe, job));
    QS_TRY(out->loweredEdits, editForm(converted->lowered, EditForm::Lowered, recipe, job));
    std::unordered_set<NodeId> reference, lowered;
    if (out->referenceEdits) {
        out->reference = out->referenceEdits->graph;
        reference = changedNodes(*out->referenceEdits);
        follow(out->referenceValueOf, *out->referenceEdits);
        follow(out->rawValueOf, *out->referenceEdits);
        // An extracted part may end between a value and its quantize-dequantize pair.
        for (const auto& [value, raw] : out->rawValueOf)
            if (!out->referenceEdits->extractions.empty())
                out->referenceValueOf.emplace(value, raw);
    }
    if (out->loweredEdits) {
        out->lowered = out->loweredEdits->graph;
        lowered = changedNodes(*out->loweredEdits);
    }
    std::erase_if(out->checks, [&](const KernelCheck& check) {
        return reference.contains(check.reference) || lowered.contains(check.lowered);
    });
    std::erase_if(out->residue, [&](const Residue& residue) {
        const Node* node = converted->lowered ? converted->lowered->tryFind(residue.name) : nullptr;
        return node && lowered.contains(node->id);
    });
    return ConvertedPtr(std::move(out));
}

std::vector<std::string> unfitFormEdits(const ConvertedModel& converted, const Recipe& recipe)
{
    std::vector<std::string> lines = converted.unfitNumbers;
    for (const EditedModelPtr& edited : {converted.referenceEdits, converted.loweredEdits})
        if (edited)
            for (std::string& line : unfitEdits(*edited, recipe.edits))
                lines.push_back(std::move(line));
    return lines;
}

} // namespace qs
