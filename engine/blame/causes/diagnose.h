// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/blame/causes/cause.h"
#include "engine/calibrate/observations.h"
#include "engine/convert/qparams.h"
#include "engine/edit/addresses.h"
#include "engine/prepare/prepared_model.h"

namespace qs {

/// Inputs of a diagnosis. Borrowed for the call.
struct DiagnosisParts
{
    const Blame* blame = nullptr;
    const PreparedModel* prepared = nullptr;
    const Observations* observations = nullptr;
    const QParamsTable* qparams = nullptr;
    std::shared_ptr<const Addresses> addresses; ///< of the edited model, for cures
    bool eightBitsHold = false; ///< this machine's kernels support eight bits (`hasDotProduct`)
};

/// Returns, for each site with at least 0.5 % of the noise, the first cause of the table for which
/// there is evidence, with proposed cures; greatest share first. A site without evidence is
/// `Unexplained`. Pure; runs no data.
std::vector<Cause> diagnose(const DiagnosisParts& parts);

} // namespace qs
