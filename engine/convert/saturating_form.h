// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/convert/converted_model.h"

namespace qs {

/// A reference form whose integers saturate at their observers' ranges.
struct SaturatingForm
{
    GraphPtr graph; ///< the reference form itself if each range fills its type
    std::int64_t values = 0; ///< activations and weights with a narrower range, bodies included
};

/// The reference form for runtimes that saturate at the stated range. Its `quantize_*` steps
/// saturate at the observer's quant_min and quant_max (seven bits: 0..127), as PT2E's convert
/// writes them; the reference form saturates at the limits of the type. Ids and names are those of
/// the reference form; only saturating values differ.
Result<SaturatingForm> saturatingForm(const ConvertedModel& model, const JobContext& job = {});

} // namespace qs
