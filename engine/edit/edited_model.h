// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/cure.h"
#include "engine/configure/edit_step.h"
#include "engine/edit/addresses.h"

#include <memory>
#include <span>

namespace qs {

/// Result of one edit.
struct EditOutcome
{
    std::vector<NodeId> touched; ///< changed or added nodes, in the graph after the edit
    std::string problem; ///< why it does not fit this model; empty if applied
};

/// Result of a cure that changes the model (`withModelCures`).
struct CureOutcome
{
    Cure cure;
    std::vector<NodeId> touched; ///< changed or added nodes
    std::string problem; ///< why it does not fit this model; empty if applied
};

/// The origin of an extracted part: the model before, and its value for each input of the part.
struct Extraction
{
    GraphPtr whole;
    std::vector<std::pair<NodeId, ValueRef>> inputs;
};

/// A model with a recipe's edits applied. A value type.
struct EditedModel
{
    GraphPtr file; ///< as read
    GraphPtr graph; ///< `file` itself without edits
    std::vector<EditOutcome> outcomes; ///< one per edit
    /// One per cure that changes the model, applied after the edits.
    std::vector<CureOutcome> cures;
    std::shared_ptr<const Addresses> addresses; ///< for further edits
    /// For each flattened output of `graph`: its index among the outputs of `file`, -1 if an edit
    /// added it.
    std::vector<int> outputPlaces;
    std::vector<Extraction> extractions; ///< in order; each extracts a part of the previous model
    /// Edits of other forms are not applied; their outcomes are empty.
    EditForm form = EditForm::Float;

    /// Returns all existing nodes that an edit changed or added.
    std::vector<NodeId> touched() const;
};
using EditedModelPtr = std::shared_ptr<const EditedModel>;

/// Applies the edits of that form in order, each completely or not at all; skips edits that do not
/// fit the model, with the reason in the outcome. `file`: the graph of that form. A file with a
/// converted model counts as Float: it accepts the edits of that form and of the form it contains.
/// Fails only with Cancelled.
Result<EditedModelPtr> editModel(GraphPtr file, std::span<const EditStep> steps,
                                 const JobContext& job = {}, EditForm form = EditForm::Float);
/// The same, continuing from a model with the first of these edits applied.
Result<EditedModelPtr> editFurther(const EditedModelPtr& done, std::span<const EditStep> steps,
                                   const JobContext& job = {});

/// Returns the model's graph with its cures added to the key of its edits, so that cached results
/// of other cures are never used.
GraphPtr withCuresMarked(const EditedModel& model);

/// Returns the form of a file's graph.
EditForm formHeld(const Graph& file);
/// True if `editModel` applies the edit to that model, false if it belongs to another form.
bool isEditOf(const EditStep& step, const EditedModel& model);

/// Returns one line for each skipped edit: "edit 2, insert ...: why".
std::vector<std::string> unfitEdits(const EditedModel& model, std::span<const EditStep> steps);

} // namespace qs
