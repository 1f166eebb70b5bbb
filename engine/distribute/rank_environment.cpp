// SPDX-License-Identifier: Apache-2.0
#include "engine/distribute/rank_environment.h"

#include "engine/base/process/system.h"
#include "engine/base/text.h"

#include <charconv>

namespace qs {

namespace {

constexpr int kMostRanks = 1 << 16;

Result<int> environmentNumber(const char* name, int least, int most)
{
    const std::string word = environmentVariable(name);
    if (word.empty())
        return fail(makeError(ErrorCode::Usage,
                              std::string(name) + " is not set, although WORLD_SIZE or RANK is")
                        .withHint("start the ranks with torchrun --no-python, or unset them"));
    int number = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (problem != std::errc() || end != word.data() + word.size() || number < least
        || number > most)
        return fail(ErrorCode::Usage,
                    std::string(name) + "=" + inQuotes(word) + " is not a number from "
                        + std::to_string(least) + " to " + std::to_string(most));
    return number;
}

Result<int> environmentNumberOr(const char* name, int otherwise, int least, int most)
{
    return environmentVariable(name).empty() ? Result<int>(otherwise)
                                             : environmentNumber(name, least, most);
}

} // namespace

std::string RankEnvironment::text() const
{
    return "rank " + std::to_string(rank) + " of " + std::to_string(size);
}

Result<std::optional<RankEnvironment>> rankEnvironment()
{
    if (environmentVariable("WORLD_SIZE").empty() && environmentVariable("RANK").empty())
        return std::nullopt;
    RankEnvironment found;
    QS_TRY(found.size, environmentNumber("WORLD_SIZE", 1, kMostRanks));
    QS_TRY(found.rank, environmentNumber("RANK", 0, found.size - 1));
    if (found.size == 1)
        return std::nullopt;
    QS_TRY(const int port, environmentNumber("MASTER_PORT", 1, 65535));
    found.port = std::uint16_t(port);
    found.host = environmentVariable("MASTER_ADDR");
    if (found.host.empty())
        return fail(
            makeError(ErrorCode::Usage, "MASTER_ADDR is not set, although WORLD_SIZE is")
                .withHint("start the ranks with torchrun --no-python, or unset WORLD_SIZE"));
    QS_TRY(found.localSize, environmentNumberOr("LOCAL_WORLD_SIZE", 1, 1, kMostRanks));
    QS_TRY(found.localRank, environmentNumberOr("LOCAL_RANK", 0, 0, kMostRanks));
    QS_TRY(found.restarts, environmentNumberOr("TORCHELASTIC_RESTART_COUNT", 0, 0, 1 << 30));
    found.usesAgentStore = environmentVariable("TORCHELASTIC_USE_AGENT_STORE") == "True";
    found.run = environmentVariable("TORCHELASTIC_RUN_ID");
    return found;
}

} // namespace qs
