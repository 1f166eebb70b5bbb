// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/convert/converted_model.h"

namespace qs {

/// A reference form whose integers keep to their observers' ranges.
struct OwnRanges
{
    GraphPtr graph; ///< the reference form itself where no range is narrower than its type
    std::int64_t values = 0; ///< activations and weights whose range is, those in bodies included
};

/// The reference form for runtimes that take a range for what it says: `quantize_*` saturates at
/// the observer's own quant_min and quant_max (seven bits: 0..127), as PT2E's convert writes it,
/// where the reference form goes on to the ends of the type. Ids and names are those of the
/// reference form; what the range cuts off makes the numbers others.
Result<OwnRanges> withOwnRanges(const ConvertedModel& model, const JobContext& job = {});

} // namespace qs
