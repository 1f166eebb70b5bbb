// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/node_times.h"

namespace qs {

void NodeTimes::beginRun()
{
    if (++m_runs == 2)
        m_sums.clear();
}

std::vector<NodeTime> NodeTimes::means() const
{
    const double counted = m_runs > 1 ? m_runs - 1 : 1;
    std::vector<NodeTime> out;
    for (const auto& [node, sum] : m_sums)
        out.push_back({node, std::chrono::duration<double>(sum).count() / counted});
    return out;
}

} // namespace qs
