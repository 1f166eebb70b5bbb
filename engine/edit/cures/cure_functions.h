// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/cure.h"
#include "engine/edit/edit_functions.h"

namespace qs {

// One function for each kind of cure that changes the model (`withModelCures`). Each applies the
// cure completely, or fails with a one-line reason; then discard the draft.

Result<EditedNodes> boundConstant(EditDraft& draft, const Cure& cure);
/// Splits linears. Returns each linear and the added operators.
Result<EditedNodes> splitLinears(EditDraft& draft, const Cure& cure);
/// Equalizes the weights of each layer and of those that read it. Returns these layers.
Result<EditedNodes> equalizeLayers(EditDraft& draft, const Cure& cure);
/// Divides a value's channels by `Cure::scales`: in the weights of the layer that makes it, else by
/// an added multiplication. Returns that layer or operator, and those that read it.
Result<EditedNodes> smoothLayer(EditDraft& draft, const Cure& cure);
/// Takes parameters and ranges from the trained model in `Cure::file`. Returns the changed
/// parameters.
Result<EditedNodes> takeTraining(EditDraft& draft, const Cure& cure);

} // namespace qs
