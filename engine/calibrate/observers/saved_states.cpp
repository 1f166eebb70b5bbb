// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observers/saved_states.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/execute/interpreter.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/state.h"

#include <algorithm>

namespace qs {

void warnOfSavedStates(const Graph& prepared)
{
    const std::vector<StateUpdate> updates = stateUpdates(prepared);
    std::vector<std::string> names;
    for (const NodePtr& node : prepared.nodes()) {
        const ValueRef* seen
            = node->isOp(kObserveTarget) ? node->args.at(0).value.asRef() : nullptr;
        if (!seen || prepared.get(seen->node).kind != NodeKind::Parameter
            || std::none_of(updates.begin(), updates.end(),
                            [&](const StateUpdate& update) { return update.holder == seen->node; }))
            continue;
        const std::string& name = prepared.get(seen->node).name;
        if (std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    }
    if (names.empty())
        return;
    const bool one = names.size() == 1;
    warn("the model changes " + quotedNames(names) + " from call to call, and "
         + (one ? "its" : "their")
         + " range is that of the saved value alone: where the data follow each other in time, set "
           "\"sequence\": true under \"calibration\", else keep what reads "
         + (one ? "it" : "them") + " float");
}

} // namespace qs
