// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/process/try_apart.h"

namespace qs {

/// A request to the process that forks copies, sent as one packet of a socket. That process is
/// itself a fork, so functions have the same addresses.
struct TrialRequest
{
    TrialBody body = nullptr; ///< null: ends the running trial
    TrialLimits limits;
    std::int64_t memoryLimit = 0; ///< the user's limit; 0 = unlimited
    bool stays = false; ///< run in that process itself, without an answer
    std::size_t size = 0; ///< used bytes of `words`
    char words[32000] = {}; ///< zero-terminated words
};

/// The answer: how the trial ended. Small enough for a pipe's buffer, so writing does not block.
struct TrialAnswer
{
    bool copied = true; ///< false: the fork failed
    bool finished = false, idle = false, noMemory = false, threw = false;
    int signal = 0;
    char error[4000] = {}; ///< zero-terminated
};

/// Answers requests until the other end of the socket is closed.
[[noreturn]] void makeCopies(int socket);

} // namespace qs
