// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/causes/cause.h"
#include "engine/pipeline/tune/tune_search.h"

namespace qs {

/// For each value that makes a part of the noise the way to choose its range (search, minmax, mse,
/// entropy, percentiles; with all eight bits where this machine's kernels take them) under which it
/// is predicted to make least, where that is clearly less than now. One blame for each way: the
/// derivative is that of the model without quantizers, so that each value is chosen for alone.
/// `base`: the trial that `model` and `blame` are of.
Result<std::vector<Proposal>> chooseRanges(TuneSearch& search, const Trial& base,
                                           const TrialModel& model, const Blame& blame);

} // namespace qs
