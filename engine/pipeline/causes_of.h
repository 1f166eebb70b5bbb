// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/blame/causes/diagnose.h"
#include "engine/pipeline/stages.h"

namespace qs {

/// Input of `diagnose` for this machine's processor. Borrows calibration and blame. `addresses`:
/// those of the edited model.
DiagnosisParts diagnosisParts(const Calibration& calibration, const Blame& blame,
                              std::shared_ptr<const Addresses> addresses);

/// Diagnoses a blame (`diagnose`) for this machine's processor. `addresses`: those of the edited
/// model.
std::vector<Cause> causesOf(const Calibration& calibration, const Blame& blame,
                            std::shared_ptr<const Addresses> addresses);

} // namespace qs
