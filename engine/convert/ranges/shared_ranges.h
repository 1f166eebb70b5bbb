// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/qparams.h"
#include "engine/prepare/prepared_model.h"

namespace qs {

/// Sharing an observer that costs a value more than this is worth a line.
inline constexpr double kSharingCostDb = 6;

/// Values that share one observer, so one scale, where that costs one of them more than
/// `kSharingCostDb` against a scale of its own range. What only moves, selects or cuts values of
/// the others loses nothing: those lie on the common grid before.
struct SharedRange
{
    struct Member
    {
        ValueRef value; ///< of the float graph
        float min = 0, max = 0; ///< what was seen of it alone
        double costDb = 0; ///< loss of precision against its own range, dB
    };
    ObserverId observer;
    std::vector<Member> members; ///< in the order of their computation
    std::size_t widest = 0; ///< the first of the widest
    std::size_t worst = 0; ///< whom sharing costs most
    NodeId separator; ///< the operator that makes them share; invalid if there is none
    std::string text; ///< one line: who loses what by whom, and the rule that separates them
};

/// All of them, worst first. Of observers whose calls cannot be distinguished,
/// nothing is said. Cheap: reads extremes that were kept.
std::vector<SharedRange> sharedRanges(const PreparedModel& prepared, const QParamsTable& qparams,
                                      const Observations& seen);

} // namespace qs
