// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/qparams.h"
#include "engine/prepare/prepared_model.h"

namespace qs {

/// Sharing an observer is reported if it costs a value more than this.
inline constexpr double kSharingCostDb = 6;

/// Values that share one observer, and thus one scale, if this costs one of them more than
/// `kSharingCostDb` compared with a scale for its own range. Values that are moved, selected or
/// clamped from other members lose nothing, because they are already on the common grid.
struct SharedRange
{
    struct Member
    {
        ValueRef value; ///< of the float graph
        float min = 0, max = 0; ///< its own observed range
        double costDb = 0; ///< loss of precision compared with its own range, dB
    };
    ObserverId observer;
    std::vector<Member> members; ///< in the order of their computation
    std::size_t widest = 0; ///< index of the widest member
    std::size_t worst = 0; ///< index of the member with the greatest cost
    NodeId separator; ///< the operator that causes the sharing; invalid if none
    std::string text; ///< one line: the loss, its cause and the rule that separates them
};

/// Returns all shared ranges, worst first, except those of observers whose calls cannot be
/// distinguished. Cheap: reads only recorded extremes.
std::vector<SharedRange> sharedRanges(const PreparedModel& prepared, const QParamsTable& qparams,
                                      const Observations& seen);

} // namespace qs
