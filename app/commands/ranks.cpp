// SPDX-License-Identifier: Apache-2.0
#include "app/commands/ranks.h"

#include "engine/base/build_info.h"
#include "engine/base/files/file_hash.h"
#include "engine/base/log.h"
#include "engine/distribute/collectives.h"
#include "engine/distribute/packed.h"
#include "engine/distribute/store_group.h"

#include <ATen/Parallel.h>

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <thread>

namespace qs {

namespace {

/// torchrun gives every rank one thread unless OMP_NUM_THREADS is set.
void noteThreads(const RankEnvironment& at)
{
    const char* given = std::getenv("OMP_NUM_THREADS");
    const int each = int(std::thread::hardware_concurrency()) / at.localSize;
    if (at.rank == 0 && given && std::string(given) == "1" && each > 1)
        note("each rank computes with one thread (OMP_NUM_THREADS=1, which torchrun sets): "
             "OMP_NUM_THREADS="
             + std::to_string(each) + " uses all processors of this machine");
}

/// Ends a process that has not stopped after a failure elsewhere.
void endIfStuck(const std::string& line)
{
    std::this_thread::sleep_for(std::chrono::seconds(6));
    std::fprintf(stderr, "quantscope: %s\n", line.c_str());
    std::_Exit(1);
}

} // namespace

Result<std::shared_ptr<Group>> joinRanks(std::chrono::milliseconds timeout, std::stop_source stop,
                                         const JobContext& job)
{
    QS_TRY(const auto environment, rankEnvironment());
    if (!environment)
        return singleProcess();
    noteThreads(*environment);
    const JoinOptions options {timeout, [stop](const Error& failure) mutable {
                                   stop.request_stop();
                                   std::thread(endIfStuck, failure.line()).detach();
                               }};
    return joinGroup(*environment, options, job);
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
    if (error.code == ErrorCode::Cancelled)
        if (const auto elsewhere = group.check(); !elsewhere)
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
                          {"numbers of threads", std::to_string(at::get_num_threads())}};
    Dl_info engine {};
    if (dladdr(reinterpret_cast<const void*>(&buildInfo), &engine) != 0 && engine.dli_fname) {
        QS_TRY(std::string hash, fileSha256(engine.dli_fname, job));
        identity.push_back({"programs", std::move(hash)});
    }
    for (RunFact& fact : facts())
        identity.push_back(std::move(fact));
    return checkSameRun(*job.group(), identity, job);
}

} // namespace qs
