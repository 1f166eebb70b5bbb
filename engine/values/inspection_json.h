// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/io/source_lines.h"
#include "engine/values/value_inspection.h"

#include <string>

namespace qs {

/// Content of the output of `look --json`. Pointers may be null; borrowed for the call.
struct InspectionParts
{
    const Graph* model = nullptr;
    const ValueInspection* inspection = nullptr;
    const SampleValues* sample = nullptr; ///< only its layout and its error are written
    const SourceExcerpt* source = nullptr;
    std::size_t worst = 10; ///< number of worst samples
    bool againstOriginal = false; ///< the float side is the model before the edits
};

/// One document, two-space indent: `{format, version, model, node, output, quantized, against,
/// samples, error, results[], channels[], sample_errors[], worst_samples[], weights[], sample,
/// source}`.
std::string inspectionJson(const InspectionParts& parts);

} // namespace qs
