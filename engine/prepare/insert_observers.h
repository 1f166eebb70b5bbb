// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/prepare/fuse_conv_bn.h"

namespace qs {

/// Puts an observer node on every activation the plan observes. An edge without readers sits on the
/// value, for all who read it; an edge with readers sits between what those read now and them, so
/// that a consumer's own observer sees what its producer's observer passed on (as torch.ao inserts
/// them). `valueOf` maps the float graph's values. Errors (Internal): the plan observes a value
/// that no longer exists.
Result<bool> insertObservers(GraphEdit& edit, const Plan& plan, const ValueMap& valueOf,
                             const JobContext& job);

} // namespace qs
