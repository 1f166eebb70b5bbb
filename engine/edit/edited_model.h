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
    std::vector<NodeId> touched; ///< nodes of the graph after it that it changed or added
    std::string problem; ///< why it does not fit this model; empty where it was done
};

/// Result of a cure that changes the model (`withModelCures`).
struct CureOutcome
{
    Cure cure;
    std::vector<NodeId> touched; ///< nodes that it changed or added
    std::string problem; ///< why it does not fit this model; empty where it was done
};

/// The origin of an extracted part: the model just before, and its value for each input of the
/// part.
struct Extraction
{
    GraphPtr whole;
    std::vector<std::pair<NodeId, ValueRef>> inputs;
};

/// A model with a recipe's edits done to it. A value.
struct EditedModel
{
    GraphPtr file; ///< as it was read
    GraphPtr graph; ///< `file` itself without edits
    std::vector<EditOutcome> outcomes; ///< one per edit
    std::vector<CureOutcome> cures; ///< one per cure that changes the model, done after the edits
    std::shared_ptr<const Addresses> addresses; ///< for further edits
    /// By tensor that `graph` returns, flat and in order: its place among those that `file`
    /// returns, -1 where an edit added it.
    std::vector<int> outputPlaces;
    std::vector<Extraction> extractions; ///< in order; each takes a part of the one before
    /// Edits of other forms are not done; their outcomes are empty.
    EditForm form = EditForm::Float;

    /// Every node that an edit changed or added and that still exists.
    std::vector<NodeId> touched() const;
};
using EditedModelPtr = std::shared_ptr<const EditedModel>;

/// Does the edits of that form in order, each whole or not at all: one that does not fit the model
/// is left out, with the reason in its outcome. `file`: the graph of that form. A file that holds a
/// converted model is of form Float: it takes the edits of that form and those of the form that it
/// holds. Errors: a cancel alone.
Result<EditedModelPtr> editModel(GraphPtr file, std::span<const EditStep> steps,
                                 const JobContext& job = {}, EditForm form = EditForm::Float);
/// The same, going on from a model with the first of these edits done.
Result<EditedModelPtr> editFurther(const EditedModelPtr& done, std::span<const EditStep> steps,
                                   const JobContext& job = {});

/// The model's graph with the key of its cures added to that of its edits, so that it never gets
/// results of other cures.
GraphPtr withCuresMarked(const EditedModel& model);

/// The form that the graph of a file is in.
EditForm formHeld(const Graph& file);
/// Whether `editModel` does the edit to that model, rather than leave it to another form's.
bool isEditOf(const EditStep& step, const EditedModel& model);

/// One line for each edit that was left out: "edit 2, insert ...: why".
std::vector<std::string> unfitEdits(const EditedModel& model, std::span<const EditStep> steps);

} // namespace qs
