// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/preview.h"

#include <algorithm>

namespace qs {

const NodeError* Preview::tryGet(NodeId id) const
{
    const auto found = std::find_if(nodes.begin(), nodes.end(),
                                    [&](const NodeError& error) { return error.node == id; });
    return found == nodes.end() ? nullptr : &*found;
}

std::optional<double> Preview::outputDb() const
{
    std::optional<double> worst;
    for (const OutputError& output : outputs)
        if (output.cumulative && output.cumulative->sqnrDb)
            worst
                = std::min(worst.value_or(*output.cumulative->sqnrDb), *output.cumulative->sqnrDb);
    return worst;
}

} // namespace qs
