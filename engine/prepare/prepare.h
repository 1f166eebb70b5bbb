// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/prepare/prepared_model.h"

namespace qs {

/// Fuses what the plan fuses (torch.ao `fuse_fx`, batch norms folded with `fuse_conv_bn_weights`'
/// own arithmetic order), inserts the observers, verifies. Pure: the float graph and its weights
/// are untouched.
Result<PreparedPtr> prepareModel(GraphPtr model, PlanPtr plan, const JobContext& job = {});

} // namespace qs
