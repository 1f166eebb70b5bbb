// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/recipe.h"
#include "engine/convert/converted_model.h"

namespace qs {

/// Whether the edit is one of a converted form.
bool isFormEdit(const EditStep& step);
/// The recipe without its edits of converted forms.
Recipe withoutFormEdits(Recipe recipe);

/// Applies the recipe's edits of converted forms, to each form separately; returns `converted`
/// itself without such edits. Drops kernel checks and residue of changed nodes, which describe the
/// old nodes. A missing form stays missing. Fails only if cancelled; edits that do not fit are
/// reported in the outcomes (`ConvertedModel::referenceEdits`).
Result<ConvertedPtr> withFormEdits(const ConvertedPtr& converted, const Recipe& recipe,
                                   const JobContext& job = {});

/// One line for each edit of a converted form that was left out, as in `unfitEdits`, after those
/// for numbers of cures (`ConvertedModel::unfitNumbers`).
std::vector<std::string> unfitFormEdits(const ConvertedModel& converted, const Recipe& recipe);

} // namespace qs
