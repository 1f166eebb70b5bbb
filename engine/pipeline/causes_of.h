// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/blame/causes/diagnose.h"
#include "engine/pipeline/stages.h"

namespace qs {

/// Input of `diagnose` for this machine's processor. Borrows calibration and blame.
DiagnosisParts diagnosisParts(const Calibration& calibration, const Blame& blame,
                              const GraphPtr& file);

/// Diagnoses a blame (`diagnose`) for this machine's processor. `file`: the model before its
/// edits.
std::vector<Cause> causesOf(const Calibration& calibration, const Blame& blame,
                            const GraphPtr& file);

} // namespace qs
