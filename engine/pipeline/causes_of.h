// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/blame/causes/diagnose.h"
#include "engine/pipeline/stages.h"

namespace qs {

/// What a diagnosis for the processor that this runs on reads. Borrows calibration and blame.
DiagnosisParts diagnosisParts(const Calibration& calibration, const Blame& blame,
                              const GraphPtr& file);

/// The diagnosis of a blame (`diagnose`) for the processor that this runs on. `file`: the model
/// before its edits.
std::vector<Cause> causesOf(const Calibration& calibration, const Blame& blame,
                            const GraphPtr& file);

} // namespace qs
