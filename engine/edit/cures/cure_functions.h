// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/cure.h"
#include "engine/edit/edit_functions.h"

namespace qs {

// One function a kind of cure that changes the model (`withModelCures`). Each does it whole, or
// fails with the reason in one line; then discard the draft.

Result<EditedNodes> boundConstant(EditDraft& draft, const Cure& cure);
/// Each linear, with the operators that it added.
Result<EditedNodes> splitLinears(EditDraft& draft, const Cure& cure);

} // namespace qs
