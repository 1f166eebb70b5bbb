// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/pass.h"

#include "engine/graph/graph_verifier.h"

#include <algorithm>
#include <chrono>

namespace qs {

namespace {

thread_local PassWatch* ofThisThread = nullptr;

/// Graphs share nodes: two graphs with the same nodes, tensors and facts are equal.
bool isSame(const Graph& a, const Graph& b)
{
    const Graph::Parts& one = a.parts();
    const Graph::Parts& other = b.parts();
    return one.nodes == other.nodes && one.modules == other.modules && one.tensors == other.tensors
        && one.info == other.info;
}

Result<GraphPtr> runPass(const Pass& pass, const GraphPtr& graph, const JobContext& job)
{
    QS_CHECK(job.check());
    QS_TRY(GraphPtr made, pass.run(graph, job));
    if (made == graph || isSame(*made, *graph))
        return graph;
    if (!pass.traits().isVerified)
        return made;
    if (auto sound = verifyGraph(*made, job); !sound) {
        Error error = std::move(sound).error();
        if (error.code == ErrorCode::Internal)
            error.message = "after the pass '" + pass.name() + "': " + error.message;
        return fail(std::move(error));
    }
    return made;
}

} // namespace

Result<GraphPtr> runPasses(GraphPtr graph, std::span<const Pass> passes, const JobContext& job)
{
    using Clock = std::chrono::steady_clock;
    for (const Pass& pass : passes) {
        PassWatch* watch = ofThisThread;
        const bool leftOut
            = watch && !pass.traits().isNeeded && watch->m_without.contains(pass.name());
        const auto start = Clock::now();
        GraphPtr made = graph;
        if (!leftOut) {
            QS_TRY(made, runPass(pass, graph, job));
        }
        if (watch) {
            const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
            watch->m_runs.push_back({pass.name(), seconds, graph->nodes().size(),
                                     made->nodes().size(), made != graph, leftOut,
                                     pass.traits().isNeeded});
            if (pass.name() == watch->m_after)
                watch->m_graph = made;
        }
        graph = std::move(made);
    }
    return graph;
}

PassWatch::PassWatch(std::set<std::string> without, std::string after)
    : m_without(std::move(without))
    , m_after(std::move(after))
{
    ofThisThread = this;
}

PassWatch::~PassWatch()
{
    ofThisThread = nullptr;
}

Result<void> PassWatch::check() const
{
    std::string ran;
    for (const PassRun& run : m_runs)
        ran += (ran.empty() ? "" : ", ") + run.name;
    const auto known = [this](const std::string& name) {
        return std::any_of(m_runs.begin(), m_runs.end(),
                           [&](const PassRun& run) { return run.name == name; });
    };
    std::set<std::string> asked = m_without;
    if (!m_after.empty())
        asked.insert(m_after);
    for (const std::string& name : asked)
        if (!known(name))
            return fail(makeError(ErrorCode::Usage, "no pass '" + name + "' ran")
                            .withHint("those that did: " + ran));
    for (const PassRun& run : m_runs)
        if (run.isNeeded && m_without.contains(run.name))
            return fail(makeError(ErrorCode::Usage,
                                  "the pass '" + run.name + "' is needed by what comes after it"));
    return {};
}

} // namespace qs
