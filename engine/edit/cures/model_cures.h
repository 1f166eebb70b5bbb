// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/configure/recipe.h"
#include "engine/edit/edited_model.h"

namespace qs {

/// The recipe's cures that change the model: of kind Bound or Split and not off, without
/// information-only members.
std::vector<Cure> modelCures(const Recipe& recipe);

/// True if the recipe decides on a changed model, by edits or such cures.
bool changesModel(const Recipe& recipe);

/// Does these cures after the edits, one after the other; `edited` must have none yet. One that
/// does not fit is left out, with the reason in `EditedModel::cures`. Errors: a cancel alone.
///
/// Bound: numbers of magnitude 1e9 or more, infinities and the largest number of their type get
/// the cure's magnitude and keep their sign; other numbers stay. A softmax that reads the mask
/// gives the same: exp(x) is 0 in float32 below -104. Stored tensors are replaced, literal
/// arguments set.
///
/// Split: a linear's input channels are cut off and multiplied as floats, y = x W0' + b + x[S]
/// W[S]', where W0 is the weight with zeros in the channels S: whatever the quantizer of x makes of
/// these meets a zero (LLM.int8(), Dettmers 2022). The float model stays the same to rounding.
Result<EditedModelPtr> withModelCures(const EditedModelPtr& edited, std::vector<Cure> cures,
                                      const JobContext& job = {});

/// One line for each cure that was left out.
std::vector<std::string> unfitModelCures(const EditedModel& model);

} // namespace qs
