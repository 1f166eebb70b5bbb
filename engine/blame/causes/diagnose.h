// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/blame/causes/cause.h"
#include "engine/calibrate/observations.h"
#include "engine/convert/qparams.h"
#include "engine/prepare/prepared_model.h"

namespace qs {

/// What a diagnosis reads. Borrowed for the call.
struct DiagnosisParts
{
    const Blame* blame = nullptr;
    const PreparedModel* prepared = nullptr;
    const Observations* observations = nullptr;
    const QParamsTable* qparams = nullptr;
    GraphPtr file; ///< the model before its edits, whose addresses cures use
    bool eightBitsHold = false; ///< this machine's kernels take eight bits (`hasDotProduct`)
};

/// For each site with at least 0.5 % of the noise the first cause of the table whose evidence it
/// shows, with what would cure it; the greatest share first. A site that shows none is
/// `Unexplained`. Pure; runs no data.
std::vector<Cause> diagnose(const DiagnosisParts& parts);

} // namespace qs
