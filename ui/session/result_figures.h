// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/compare/comparison.h"
#include "engine/plan/module_statistics.h"
#endif

#include <cstdint>
#include <optional>
#include <string>

namespace qs {

struct RunHeadline;

/// Summary figures of one comparison. A value.
struct ResultFigures
{
    std::optional<double> loweredDb, referenceDb; ///< of the worst output
    std::optional<double> floatTop1, int8Top1, agreement; ///< in [0, 1]
    std::int64_t floatBytes = 0, int8Bytes = 0; ///< weights and buffers; 0: not counted yet
    int quantizedOps = 0, eligibleOps = 0, totalOps = 0; ///< as `Coverage` counts
    std::string data; ///< that was compared on, as settings name it; "" = not known
    std::int64_t samples = 0; ///< of them
    /// The lowered form's where there is one, else the reference's.
    std::optional<double> outputDb() const { return loweredDb ? loweredDb : referenceDb; }
};
/// `sizes` as `moduleStatistics` of the same plan gives it; may be empty.
ResultFigures resultFigures(const Comparison& comparison, const Plan& plan,
                            const ModuleStatisticsMap& sizes);
/// The same of a kept run.
ResultFigures resultFigures(const RunHeadline& run);

} // namespace qs
