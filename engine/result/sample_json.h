// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/metrics/sample_errors.h"
#include "engine/result/result_document.h"

namespace qs {

/// `{output, worst[], classes}`: the worst samples, and the counts of pairs of classes by row, then
/// by column; null without samples.
ResultDocument::Json sampleErrorsJson(const SampleErrorsPtr& errors);
/// The inverse of `sampleErrorsJson`; null if `json` is null. Throws Json's exceptions if a key is
/// missing or has another type.
SampleErrorsPtr sampleErrorsFromJson(const ResultDocument::Json* json);

} // namespace qs
