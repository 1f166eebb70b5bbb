// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/compare_unit.h"

#include <vector>

namespace qs {

/// In which order one batch runs through both graphs, and when each value may go. Step `p` runs
/// node `p` of the float graph, then the reference graph up to `referenceEnd[p]`, then measures the
/// units that end there, then frees. Worked out once for all batches; holds no tensors.
struct SweepSchedule
{
    std::vector<std::size_t> referenceEnd; ///< nodes of the reference graph run after step p
    std::vector<std::vector<std::size_t>> unitsAt; ///< indices of the units measured at step p
    std::vector<std::vector<ValueRef>> freeFloat; ///< values dead after step p
    std::vector<std::vector<ValueRef>> freeReference;
};

SweepSchedule scheduleSweep(const Graph& floatGraph, const Graph& reference,
                            const std::vector<CompareUnit>& units);

} // namespace qs
