// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/node.h"

namespace qs {

/// Fails once the job is cancelled. The error names the next node, except at the end of a body,
/// where the loop's node adds its name.
inline Result<void> checkGoesOn(const JobContext& job, const Node& node)
{
    auto running = job.check();
    if (running || node.kind == NodeKind::Output) // end of a body: its loop adds a name
        return running;
    return fail(std::move(running).error().atNode(node.name));
}

} // namespace qs
