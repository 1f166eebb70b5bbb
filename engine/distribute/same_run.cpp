// SPDX-License-Identifier: Apache-2.0
#include "engine/distribute/same_run.h"

#include "engine/base/process/system.h"
#include "engine/base/sha256.h"
#include "engine/distribute/collectives.h"
#include "engine/distribute/packed.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace qs {

namespace fs = std::filesystem;

namespace {

constexpr std::streamoff kEndBytes = 1 << 20;
constexpr std::size_t kShownDigits = 12;

void addEnds(Sha256& hash, const fs::path& file, std::uintmax_t size)
{
    std::ifstream in(file, std::ios::binary);
    std::string bytes(std::size_t(std::min<std::uintmax_t>(size, kEndBytes)), '\0');
    in.read(bytes.data(), std::streamsize(bytes.size()));
    hash.update(bytes.data(), bytes.size());
    in.seekg(std::streamoff(size) - std::streamoff(bytes.size()));
    in.read(bytes.data(), std::streamsize(bytes.size()));
    hash.update(bytes.data(), bytes.size());
}

/// "rank 2 on b (3f2a...)"
std::string rankWith(int rank, const std::string& host, const std::string& content)
{
    return "rank " + std::to_string(rank) + " on " + host + " ("
        + (content.empty() ? "none" : content.substr(0, kShownDigits)) + ")";
}

/// The first difference between rank 0 and another one; "" without one.
Result<std::string> firstDifference(const std::vector<std::string>& ranks)
{
    std::string firstHost;
    std::vector<RunFact> first;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        Unpacker in(ranks[rank]);
        std::string host;
        in.get(host);
        for (std::size_t i = 0; !in.isAtEnd(); ++i) {
            RunFact fact;
            in.get(fact.what).get(fact.content);
            QS_CHECK(in.check());
            if (rank == 0)
                first.push_back(fact);
            else if (i < first.size() && fact.content != first[i].content)
                return rankWith(0, firstHost, first[i].content) + " and "
                    + rankWith(int(rank), host, fact.content) + " have different " + fact.what;
        }
        if (rank == 0)
            firstHost = host;
    }
    return std::string();
}

} // namespace

Result<void> checkSameRun(Group& group, const RunIdentity& identity, const JobContext& job)
{
    if (group.isAlone())
        return {};
    Packer own;
    own.add(hostName());
    for (const RunFact& fact : identity)
        own.add(fact.what).add(fact.content);
    QS_TRY(const auto all, gather(group, group.newName("identity"), own.take(), job));
    QS_TRY(std::string difference, firstDifference(all));
    QS_TRY(difference, broadcast(group, group.newName("difference"), std::move(difference), job));
    if (difference.empty())
        return {};
    return fail(makeError(ErrorCode::BadInput, std::move(difference))
                    .withHint("start all ranks with the same program and files"));
}

std::string contentMark(const std::string& path)
{
    std::error_code code;
    Sha256 hash;
    if (fs::is_directory(path, code)) {
        std::vector<std::string> lines;
        fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied,
                                               code);
        for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
            std::error_code unreadable;
            if (entry->is_regular_file(unreadable))
                lines.push_back(entry->path().lexically_relative(path).string() + " "
                                + std::to_string(entry->file_size(unreadable)));
        }
        std::sort(lines.begin(), lines.end());
        for (const std::string& line : lines)
            hash.update(line.data(), line.size());
        return hash.hex();
    }
    const std::uintmax_t size = fs::file_size(path, code);
    if (code)
        return {};
    const std::string text = std::to_string(size);
    hash.update(text.data(), text.size());
    addEnds(hash, path, size);
    return hash.hex();
}

} // namespace qs
