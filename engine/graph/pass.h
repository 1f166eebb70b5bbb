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
    bool isNeeded = true; ///< what follows relies on it: it cannot be left out
    bool isVerified = true; ///< false for the form of a file, where operators write in place
};

/// A rewrite of a graph: pure, and named so that a watch can time it, keep its graph or skip it.
class Pass
{
public:
    using Rewrite = std::function<Result<GraphPtr>(const GraphPtr&, const JobContext&)>;

    /// `rewrite` takes a graph (`const Graph&` or `GraphPtr`), and a job if it may take long; it
    /// returns a graph (`Graph` or `GraphPtr`), as a `Result` if it can fail.
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

/// Runs the passes one after the other; a graph that one of them changed is verified
/// (`verifyGraph`). Errors: those of the passes; an unsound graph (Internal), with the pass's name;
/// Cancelled, between two passes too.
Result<GraphPtr> runPasses(GraphPtr graph, std::span<const Pass> passes,
                           const JobContext& job = {});

/// Record of one run of a pass.
struct PassRun
{
    std::string name;
    double seconds = 0; ///< its verification included
    std::size_t nodesBefore = 0, nodesAfter = 0;
    bool changed = false; ///< the graph it gave is another
    bool leftOut = false;
    bool isNeeded = true;
};

/// Records every pass that its thread runs while it lives. One at a time on a thread.
class PassWatch
{
public:
    /// `without`: passes that are left out. `after`: the pass whose graph is kept, the last time
    /// that it runs; "" = none.
    explicit PassWatch(std::set<std::string> without = {}, std::string after = {});
    ~PassWatch();
    PassWatch(const PassWatch&) = delete;
    PassWatch& operator=(const PassWatch&) = delete;

    const std::vector<PassRun>& runs() const { return m_runs; }
    /// The graph after the pass `after`; null if that pass did not run.
    const GraphPtr& graph() const { return m_graph; }
    /// Fails (Usage) if a word of `without` or `after` names no pass that ran, or if `without`
    /// names a needed pass.
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
