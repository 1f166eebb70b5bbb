// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/node.h"

namespace qs {

/// A cancelled job's error, which names the node that was next (for a body's
/// end nothing: its loop does); nothing as long as it goes on.
inline Result<void> checkGoesOn(const JobContext& job, const Node& node)
{
    auto running = job.check();
    if (running || node.kind == NodeKind::Output) // a body's: its loop says its own name
        return running;
    return fail(std::move(running).error().atNode(node.name));
}

} // namespace qs
