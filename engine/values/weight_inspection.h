// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/compare/compare_unit.h"
#include "engine/values/value_inspection.h"
#include "engine/values/value_sums.h"

namespace qs {

/// Returns the quantized weights read by the unit's members, as computed by the reference form.
/// Call under a torch guard. Runs no data.
Result<std::vector<WeightInspection>>
weightInspections(const ConvertedModel& converted, const CompareUnit& unit, const JobContext& job);

/// Returns a channel's error from the sums of its value.
ChannelError channelError(std::size_t result, std::size_t index, const ValueSums& sums);

} // namespace qs
