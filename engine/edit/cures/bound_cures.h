// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/recipe.h"
#include "engine/edit/edited_model.h"

namespace qs {

/// The recipe's cures that change the model: of kind Bound and not off, without information-only
/// members.
std::vector<Cure> boundCures(const Recipe& recipe);

/// True if the recipe decides on a changed model, by edits or bounds.
bool changesModel(const Recipe& recipe);

/// Bounds the constants of masks: numbers of magnitude 1e9 or more, infinities and the largest
/// number of their type get the cure's magnitude and keep their sign; other numbers stay. A softmax
/// that reads the mask gives the same: exp(x) is 0 in float32 below -104. Stored tensors are
/// replaced, literal arguments set. A cure that does not fit is left out, with the reason in
/// `EditedModel::bounds`. Cures are done after the edits, `edited` must have none yet. Errors: a
/// cancel alone.
Result<EditedModelPtr> withBounds(const EditedModelPtr& edited, std::vector<Cure> cures,
                                  const JobContext& job = {});

/// One line for each bound that was left out.
std::vector<std::string> unfitBounds(const EditedModel& model);

} // namespace qs
