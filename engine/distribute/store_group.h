// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/distribute/group.h"
#include "engine/distribute/rank_environment.h"

#include <chrono>
#include <functional>

namespace qs {

/// How a rank joins the others.
struct JoinOptions
{
    /// How long a rank waits for another's message, or for it to join.
    std::chrono::milliseconds timeout = std::chrono::minutes(10);
    /// Called once on another thread when the run has failed elsewhere. It should stop the work,
    /// and end a process that does not stop: without a network the store's calls never return.
    std::function<void(const Error&)> onFailure {};
};

/// Joins the ranks of the environment over c10d's TCPStore, which torchrun's agent keeps, or rank
/// 0. Returns once all have joined. A thread of the group reports every second that this
/// rank lives; one that stops for 15 s has failed. Errors: the store cannot be reached within 30 s,
/// its port is in use, or its ranks belong to another run (Io).
Result<std::shared_ptr<Group>> joinGroup(const RankEnvironment& environment,
                                         const JoinOptions& options, const JobContext& job);

} // namespace qs
