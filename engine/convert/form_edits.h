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

/// The conversion with the recipe's edits of its forms done, each form by itself; the
/// conversion itself without such edits. Kernel checks and residue of changed nodes are
/// dropped: they describe the old nodes. A form that was not made stays so. Errors: only
/// a cancel; edits that do not fit are in the outcomes
/// (`ConvertedModel::referenceEdits`).
Result<ConvertedPtr> withFormEdits(const ConvertedPtr& converted, const Recipe& recipe,
                                   const JobContext& job = {});

/// The lines on edits of the converted forms that were left out, as `unfitEdits`.
std::vector<std::string> unfitFormEdits(const ConvertedModel& converted, const Recipe& recipe);

} // namespace qs
