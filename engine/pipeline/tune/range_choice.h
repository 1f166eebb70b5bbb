// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/causes/cause.h"
#include "engine/pipeline/tune/tune_search.h"

namespace qs {

/// For each value that causes noise, the way to choose its range (search, minmax, mse, entropy,
/// percentiles; with all eight bits if this machine's kernels support them) for which it is
/// predicted to cause the least noise, if that is clearly less than now. Computes one blame for
/// all ways. Each value can be chosen independently, because derivatives are those of the model
/// without quantizers. `base`: the trial to which `model` and `blame` belong.
Result<std::vector<Proposal>> chooseRanges(TuneSearch& search, const Trial& base,
                                           const TrialModel& model, const Blame& blame);

} // namespace qs
