// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/process/try_apart.h"

namespace qs {

/// A request to the process that makes copies, one packet of a socket. That process is a fork, so
/// both have the same functions at the same addresses.
struct TrialRequest
{
    TrialBody body = nullptr; ///< null: ends the trial that runs
    TrialLimits limits;
    std::int64_t memoryLimit = 0; ///< the user's; 0 = unlimited
    bool stays = false; ///< runs in that process itself, without an answer
    std::size_t size = 0; ///< of `words`
    char words[32000] = {}; ///< each with a zero at its end
};

/// The answer: how the trial ended. A pipe takes it without a reader.
struct TrialAnswer
{
    bool copied = true; ///< else no copy could be made
    bool finished = false, idle = false, noMemory = false, threw = false;
    int signal = 0;
    char error[4000] = {}; ///< with a zero at its end
};

/// Answers requests until the other end of the socket is closed.
[[noreturn]] void makeCopies(int socket);

} // namespace qs
