// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/command_run.h"
#include "app/commands/text/console.h"
#include "engine/distribute/group.h"
#include "engine/distribute/same_run.h"

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace qs {

/// Joins the ranks that a launcher started (`rankEnvironment`); a group of one without any. `stop`
/// is requested when another rank fails. Errors: `rankEnvironment`'s and `joinGroup`'s.
Result<std::shared_ptr<Group>> joinRanks(std::chrono::milliseconds timeout,
                                         const std::stop_source& stop, const JobContext& job);

/// Logs on rank 0 what the other ranks noted, once.
Result<void> gatherNotes(Group& group, NoteHolder& notes, const JobContext& job);

/// Fails (Usage) under a launcher of several ranks: the verb runs in one process.
Result<void> refuseRanks(const std::string& verb);

/// Informs the other ranks that this one ends. Returns the error for the user: the failure of
/// another rank where that is the reason.
Error failRank(Group& group, const Error& error);

/// "rank 1: " for messages of a rank of several but the first, else "".
std::string rankText(const Group& group);

/// Fails unless all ranks run the same program with as many threads and share these facts
/// (`checkSameRun`). Of one process it computes nothing.
Result<void> checkRanks(const CommandRun& job, const std::function<RunIdentity()>& facts);

} // namespace qs
