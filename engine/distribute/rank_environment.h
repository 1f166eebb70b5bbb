// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace qs {

/// The variables by which torchrun, or another launcher, places a process: RANK, LOCAL_RANK,
/// WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT and torchelastic's variables. A value.
struct RankEnvironment
{
    int rank = 0;
    int size = 1;
    int localRank = 0; ///< among the ranks of this machine; numbers its GPU
    int localSize = 1;
    std::string host; ///< of the store
    std::uint16_t port = 0;
    bool usesAgentStore = false; ///< the launcher keeps the store; else rank 0 does
    std::string run; ///< torchrun's --rdzv-id, or empty
    int restarts = 0; ///< how often the launcher has started the ranks again

    /// "rank 1 of 4"
    std::string text() const;
};

/// Reads the environment. Returns nullopt without WORLD_SIZE and RANK, and for WORLD_SIZE 1. Errors
/// (Usage): a part of the variables is missing, or is not a number, or RANK is not below
/// WORLD_SIZE.
Result<std::optional<RankEnvironment>> rankEnvironment();

} // namespace qs
