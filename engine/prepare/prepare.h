// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/prepare/prepared_model.h"

namespace qs {

/// Fuses as the plan says (torch.ao's `fuse_fx`; batch norms are folded with the arithmetic order
/// of `fuse_conv_bn_weights`), inserts the observers and verifies the graph. Does not change the
/// float graph or its weights.
Result<PreparedPtr> prepareModel(GraphPtr model, PlanPtr plan, const JobContext& job = {});

} // namespace qs
