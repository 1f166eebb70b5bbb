// SPDX-License-Identifier: Apache-2.0
#include "app/commands/ranks.h"

#include "engine/base/build_info.h"
#include "engine/base/files/file_hash.h"
#include "engine/base/log.h"
#include "engine/base/process/system.h"
#include "engine/base/sha256.h"
#include "engine/distribute/collectives.h"
#include "engine/distribute/packed.h"
#include "engine/distribute/store_group.h"

#include <ATen/Parallel.h>
#include <ATen/Version.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <thread>

namespace qs {

namespace {

constexpr std::chrono::milliseconds kLearnTime {1500};

/// torchrun gives every rank one thread unless OMP_NUM_THREADS is set.
void noteThreads(const RankEnvironment& at)
{
    const int each = int(std::thread::hardware_concurrency()) / at.localSize;
    if (at.rank == 0 && environmentVariable("OMP_NUM_THREADS") == "1" && each > 1)
        note("each rank computes with one thread (OMP_NUM_THREADS=1, which torchrun sets): "
             "OMP_NUM_THREADS="
             + std::to_string(each) + " uses all processors of this machine");
}

std::atomic<bool> hasReported = false; ///< the line of this rank's end was printed

/// Ends a process that has not stopped after a failure elsewhere.
void endIfStuck(const std::string& line)
{
    std::this_thread::sleep_for(std::chrono::seconds(6));
    if (!hasReported.exchange(true))
        std::fprintf(stderr, "quantscope: %s\n", line.c_str());
    std::_Exit(1);
}

/// A mark of the words of this command.
std::string ownOptions()
{
    std::ifstream in("/proc/self/cmdline", std::ios::binary);
    std::string words {std::istreambuf_iterator<char>(in), {}};
    words.erase(0, words.find('\0')); // the program's path
    Sha256 hash;
    hash.update(words.data(), words.size());
    return hash.hex();
}

} // namespace

Result<std::shared_ptr<Group>> joinRanks(std::chrono::milliseconds timeout,
                                         const std::stop_source& stop, const JobContext& job)
{
    QS_TRY(const auto environment, rankEnvironment());
    if (!environment)
        return singleProcess();
    noteThreads(*environment);
    const JoinOptions options {timeout, [stop](const Error& failure) {
                                   stop.request_stop();
                                   std::thread(endIfStuck, failure.line()).detach();
                               }};
    return joinGroup(*environment, options, job);
}

Result<void> refuseRanks(const std::string& verb)
{
    const auto environment = rankEnvironment();
    if (!environment || !*environment) // stray variables do no harm
        return {};
    return fail(
        makeError(ErrorCode::Usage,
                  "'" + verb + "' runs in one process, and this is " + (*environment)->text())
            .withHint("start it without torchrun, or unset WORLD_SIZE and RANK"));
}

Result<void> gatherNotes(Group& group, NoteHolder& notes, const JobContext& job)
{
    if (group.isAlone())
        return {};
    Packer own;
    if (!group.isFirst())
        for (const auto& [level, text] : notes.take())
            own.add(level).add(text);
    QS_TRY(const auto all, gather(group, "notes", own.take(), job));
    for (const std::string& one : all)
        for (Unpacker in(one); !in.isAtEnd() && in.check();) {
            LogLevel level = LogLevel::Note;
            std::string text;
            in.get(level).get(text);
            log(level, text);
        }
    return {};
}

Error failRank(Group& group, const Error& error)
{
    // A launcher stops the other ranks as soon as one fails, which may be before they know why.
    const auto end = std::chrono::steady_clock::now() + kLearnTime;
    const bool isStopped = error.code == ErrorCode::Cancelled && !group.isAlone();
    auto elsewhere = group.check();
    while (isStopped && elsewhere && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        elsewhere = group.check();
    }
    hasReported = true;
    if (isStopped && !elsewhere)
        return elsewhere.error();
    group.fail(error);
    return error;
}

std::string rankText(const Group& group)
{
    return group.isFirst() ? std::string() : "rank " + std::to_string(group.rank()) + ": ";
}

Result<void> checkRanks(const CommandRun& job, const std::function<RunIdentity()>& facts)
{
    if (job.group()->isAlone())
        return {};
    const BuildInfo build = buildInfo();
    RunIdentity identity {{"versions of torch", build.torch},
                          {"builds", build.version + ", " + build.build},
                          {"processors", at::get_cpu_capability()},
                          {"numbers of threads", std::to_string(at::get_num_threads())}};
    Dl_info engine {};
    if (dladdr(reinterpret_cast<const void*>(&buildInfo), &engine) != 0 && engine.dli_fname) {
        QS_TRY(std::string hash, fileSha256(engine.dli_fname, job));
        identity.push_back({"programs", std::move(hash)});
    }
    for (RunFact& fact : facts())
        identity.push_back(std::move(fact));
    identity.push_back({"options", ownOptions()});
    return checkSameRun(*job.group(), identity, job);
}

} // namespace qs
