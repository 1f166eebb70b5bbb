// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/names/unit_title.h"

namespace qs {

std::string unitTitle(const NodeTitles& titles, const Plan& plan, const NodePlan* decided,
                      const Node& node)
{
    if (!decided || decided->group < 0)
        return titles.of(node);
    const MatchGroup& group = plan.groups[std::size_t(decided->group)];
    const bool isJoined = group.members.size() > 1 && (group.quantized || group.fused);
    return isJoined ? titles.of(group.members) : titles.of(node);
}

} // namespace qs
