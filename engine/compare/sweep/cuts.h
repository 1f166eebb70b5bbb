// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/sweep/comparison_cache.h"
#include "engine/execute/interpreter.h"
#include "engine/prepare/value_keys.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace qs {

/// One graph of a run, by the run's steps: the nodes that run in each, and the values that are dead
/// after it.
struct CutSide
{
    const Interpreter& interpreter;
    const ValueKeys& keys;
    std::vector<std::vector<NodeId>> runs;
    std::vector<std::vector<ValueRef>> freed;
};

/// Of a run that steps through one graph node by node.
CutSide nodeByNode(const Interpreter& interpreter, const ValueKeys& keys);

/// Cuts of a run over one graph, or over two side by side: the live values at a cut are cached for
/// each batch, so that a later run of a graph that computes the same up to the cut resumes there.
/// After the first batch, cuts are chosen by the size of their values and the time that they
/// save. One thread at a time.
class Cuts
{
public:
    /// `name` distinguishes runs that compute in different ways (layout, kernels); `budget` in
    /// bytes. The sides need not outlive the call.
    Cuts(const Continuation& from, const std::string& name, std::size_t budget,
         std::span<const CutSide> sides);

    /// Resumes from the last cut before `limit`, the first step that must run, with values of all
    /// batches; call once, first. Returns the first step to run.
    std::size_t resume(std::size_t limit);

    /// Puts the values alive at that place into the frames, one a side.
    void restore(std::span<Frame* const> frames) const;
    /// Call after each step.
    void reached(std::size_t step, std::span<Frame* const> frames);
    void endBatch();

private:
    struct LiveValue
    {
        std::size_t side = 0;
        ValueRef ref;
        Key key;
    };
    struct Place
    {
        std::size_t step = 0; ///< the last one that has run
        double work = 0; ///< operators that have run by then
        std::vector<LiveValue> live;
        std::size_t bytes = 0; ///< of the first batch
        bool isKept = true;
    };
    using Values = std::vector<std::shared_ptr<const at::IValue>>; ///< of one place and batch

    void choosePlaces(std::span<const CutSide> sides);
    void fillLive(std::span<const CutSide> sides);
    Key keyOf(const LiveValue& value, std::int64_t batch) const;
    /// Empty where one is missing.
    Values valuesAt(const Place& place, std::int64_t batch) const;
    bool keep(const Place& place, std::span<Frame* const> frames, std::size_t& bytes);
    /// Drops the places that take most and save least.
    void dropPlaces();

    Continuation m_from;
    std::string m_name;
    std::size_t m_budget;
    std::vector<Place> m_places; ///< in order
    double m_allWork = 0;
    const Place* m_resumed = nullptr;
    std::vector<Values> m_given; ///< by batch; held, so that they stay
    std::int64_t m_batch = 0;
};

} // namespace qs
