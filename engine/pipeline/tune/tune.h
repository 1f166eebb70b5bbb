// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/pipeline/stage_chain.h"
#include "engine/pipeline/tune/tune_state.h"

namespace qs {

/// Searches cures with which the reference form reaches the goal and most multiplications stay in
/// int8. Stage A finds causes. Stage B tries all cures that cost no multiplication at once,
/// including for each value the range of least predicted noise. Stage D makes as few operators
/// float as the prediction requires: a knapsack over the shares, corrected by measurements. Stage F
/// trains the best trial's model, if that is allowed and predicted to gain. Predictions are for the
/// worst output.
///
/// A quarter of the batches is the guard: the goal is reached if the guard reaches it or, with
/// fewer than 8 guard samples, if all samples do. The same request gives bitwise the same trials;
/// trials in `known` are not measured again. Calls `see` once request and data were checked, and
/// after each trial. Errors: those of the stages; data without a guard; a forbidden cure at a node
/// that does not exist (Usage); a goal for which the model has no suitable output; Cancelled.
Result<TuneState> tune(StageChain& chain, const TuneRequest& request, const KnownTrials& known,
                       const SeeTune& see, const JobContext& job);

} // namespace qs
