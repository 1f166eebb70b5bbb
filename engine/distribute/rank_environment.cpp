// SPDX-License-Identifier: Apache-2.0
#include "engine/distribute/rank_environment.h"

#include "engine/base/text.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace qs {

namespace {

constexpr int kMostRanks = 1 << 16;

Result<int> environmentNumber(const char* name, int least, int most)
{
    const char* text = std::getenv(name);
    if (!text)
        return fail(makeError(ErrorCode::Usage,
                              std::string(name) + " is not set, although WORLD_SIZE or RANK is")
                        .withHint("start the ranks with torchrun --no-python, or unset them"));
    const std::string_view word(text);
    int number = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (problem != std::errc() || end != word.data() + word.size() || number < least
        || number > most)
        return fail(ErrorCode::Usage,
                    std::string(name) + "=" + inQuotes(std::string(word)) + " is not a number from "
                        + std::to_string(least) + " to " + std::to_string(most));
    return number;
}

Result<int> environmentNumberOr(const char* name, int otherwise, int least, int most)
{
    return std::getenv(name) ? environmentNumber(name, least, most) : Result<int>(otherwise);
}

std::string environmentText(const char* name)
{
    const char* text = std::getenv(name);
    return text ? text : "";
}

} // namespace

std::string RankEnvironment::text() const
{
    return "rank " + std::to_string(rank) + " of " + std::to_string(size);
}

Result<std::optional<RankEnvironment>> rankEnvironment()
{
    if (!std::getenv("WORLD_SIZE") && !std::getenv("RANK"))
        return std::nullopt;
    RankEnvironment found;
    QS_TRY(found.size, environmentNumber("WORLD_SIZE", 1, kMostRanks));
    QS_TRY(found.rank, environmentNumber("RANK", 0, found.size - 1));
    if (found.size == 1)
        return std::nullopt;
    QS_TRY(const int port, environmentNumber("MASTER_PORT", 1, 65535));
    found.port = std::uint16_t(port);
    found.host = environmentText("MASTER_ADDR");
    if (found.host.empty())
        return fail(
            makeError(ErrorCode::Usage, "MASTER_ADDR is not set, although WORLD_SIZE is")
                .withHint("start the ranks with torchrun --no-python, or unset WORLD_SIZE"));
    QS_TRY(found.localSize, environmentNumberOr("LOCAL_WORLD_SIZE", 1, 1, kMostRanks));
    QS_TRY(found.localRank, environmentNumberOr("LOCAL_RANK", 0, 0, kMostRanks));
    QS_TRY(found.restarts, environmentNumberOr("TORCHELASTIC_RESTART_COUNT", 0, 0, 1 << 30));
    found.usesAgentStore = environmentText("TORCHELASTIC_USE_AGENT_STORE") == "True";
    found.run = environmentText("TORCHELASTIC_RUN_ID");
    return found;
}

} // namespace qs
