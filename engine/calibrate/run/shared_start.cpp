// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/run/shared_start.h"

#include "engine/calibrate/run/packed_stats.h"
#include "engine/distribute/collectives.h"
#include "engine/distribute/packed.h"

namespace qs {

Result<std::optional<Observations>> sharedStart(Group& group, std::optional<Observations> own,
                                                const Plan& plan, const JobContext& job)
{
    if (group.isAlone())
        return own;
    Packer out;
    out.add(own.has_value());
    if (own) {
        out.add(own->batches).add(own->samples);
        for (const ObserverStats& stats : own->observers)
            out.add(packStats(stats));
    }
    QS_TRY(const std::string bytes, broadcast(group, group.newName("start"), out.take(), job));
    Unpacker in(bytes);
    bool isThere = false;
    in.get(isThere);
    if (!isThere)
        return std::nullopt;
    Observations start;
    in.get(start.batches).get(start.samples);
    for (const PlannedObserver& planned : plan.observers) {
        ObserverStats& stats = start.observers.emplace_back();
        stats.id = planned.id;
        stats.spec = planned.spec;
        std::string one;
        in.get(one);
        QS_CHECK(in.check());
        QS_CHECK(unpackStats(one, stats));
    }
    return start;
}

} // namespace qs
