// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/distribute/group.h"

#include <optional>

namespace qs {

/// Returns the statistics that rank 0 starts from on every rank; nullopt if it has none, in
/// a group of one its own. Collective.
Result<std::optional<Observations>> sharedStart(Group& group, std::optional<Observations> own,
                                                const Plan& plan, const JobContext& job);

} // namespace qs
