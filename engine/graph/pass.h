// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"

#include <functional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace qs {

struct PassTraits
{
    bool isNeeded = true; ///< later passes rely on it: it cannot be skipped
    /// False for a graph as read from a file, where operators write in place.
    bool isVerified = true;
};

/// A pure rewrite of a graph. Its name lets a PassWatch time it, keep its graph or skip it.
class Pass
{
public:
    using Rewrite = std::function<Result<GraphPtr>(const GraphPtr&, const JobContext&)>;

    /// `rewrite` takes a graph (`const Graph&` or `GraphPtr`), and optionally a job if it may run
    /// long. It returns a graph (`Graph` or `GraphPtr`), as a `Result` if it can fail.
    template<class F>
    Pass(std::string name, F rewrite, PassTraits traits = {});

    const std::string& name() const { return m_name; }
    const PassTraits& traits() const { return m_traits; }
    Result<GraphPtr> run(const GraphPtr& graph, const JobContext& job) const
    {
        return m_rewrite(graph, job);
    }

private:
    std::string m_name; ///< "fold-weights"
    Rewrite m_rewrite;
    PassTraits m_traits;
};

/// Runs the passes in order and verifies each changed graph (`verifyGraph`). Errors: those of the
/// passes; Internal, with the pass's name, if a graph is invalid; Cancelled, also between passes.
Result<GraphPtr> runPasses(GraphPtr graph, std::span<const Pass> passes,
                           const JobContext& job = {});

/// Record of one run of a pass.
struct PassRun
{
    std::string name;
    double seconds = 0; ///< including verification
    std::size_t nodesBefore = 0, nodesAfter = 0;
    bool changed = false; ///< the pass returned a different graph
    bool leftOut = false;
    bool isNeeded = true;
};

/// Records every pass that its thread runs during its lifetime. At most one per thread.
class PassWatch
{
public:
    /// `without`: passes to skip. `after`: the pass whose graph is kept, from its last run; "" =
    /// none.
    explicit PassWatch(std::set<std::string> without = {}, std::string after = {});
    ~PassWatch();
    PassWatch(const PassWatch&) = delete;
    PassWatch& operator=(const PassWatch&) = delete;

    const std::vector<PassRun>& runs() const { return m_runs; }
    /// The graph after the pass `after`; null if that pass did not run.
    const GraphPtr& graph() const { return m_graph; }
    /// Fails (Usage) if `without` or `after` contains a name of no pass that ran, or if `without`
    /// contains a needed pass.
    Result<void> check() const;

private:
    friend Result<GraphPtr> runPasses(GraphPtr, std::span<const Pass>, const JobContext&);
    std::set<std::string> m_without;
    std::string m_after;
    std::vector<PassRun> m_runs;
    GraphPtr m_graph;
};

template<class F>
Pass::Pass(std::string name, F rewrite, PassTraits traits)
    : m_name(std::move(name))
    , m_traits(traits)
{
    const auto call = [rewrite = std::move(rewrite)](const GraphPtr& graph, const JobContext& job) {
        if constexpr (std::is_invocable_v<const F&, const Graph&, const JobContext&>)
            return rewrite(*graph, job);
        else if constexpr (std::is_invocable_v<const F&, const Graph&>)
            return rewrite(*graph);
        else if constexpr (std::is_invocable_v<const F&, GraphPtr, const JobContext&>)
            return rewrite(graph, job);
        else
            return rewrite(graph);
    };
    m_rewrite = [call](const GraphPtr& graph, const JobContext& job) -> Result<GraphPtr> {
        using Made = decltype(call(graph, job));
        if constexpr (std::is_same_v<Made, Graph>) {
            return std::make_shared<const Graph>(call(graph, job));
        } else if constexpr (std::is_same_v<Made, Result<Graph>>) {
            QS_TRY(Graph made, call(graph, job));
            return std::make_shared<const Graph>(std::move(made));
        } else {
            return call(graph, job);
        }
    };
}

} // namespace qs
