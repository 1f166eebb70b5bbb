// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/process/try_apart.h"

namespace qs {

/// A request to the process that makes copies, and its answer, each one packet of a socket.
struct TrialRequest
{
    TrialBody body = nullptr; ///< at the same address there: it is a fork
    std::vector<std::string> words;
    TrialLimits limits;
    std::int64_t memoryLimit = 0; ///< the user's; 0 = unlimited
    bool stays = false; ///< runs in that process itself; there is no answer
};

/// Longest packet; a request with more words fails.
inline constexpr std::size_t kLongestPacket = 64 << 10;
/// The packet that ends the trial that runs.
inline constexpr char kEndTrial[] = "end";

std::string packetOf(const TrialRequest& request);
std::string packetOf(const TrialEnd& end);
TrialEnd endOf(const std::string& packet);
/// Empty once the other end is closed. Waits.
std::string receivePacket(int socket);
bool sendPacket(int socket, const std::string& packet);

/// Answers requests until the other end of the socket is closed.
[[noreturn]] void makeCopies(int socket);

} // namespace qs
