// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/gradients/gradients.h"
#include "engine/execute/gradients/segment_record.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace qs {

/// Facts on a graph's derivatives, collected over its runs.
struct GradientFindings
{
    GradientStops stops;
    std::vector<bool> reached; ///< by site: a derivative reached it
    std::vector<bool> isFloat; ///< by site: a tensor of floats, as far as is known
    std::size_t segments = 0, keptBytes = 0; ///< of the last run
    bool hasRun = false;
};

/// One call of the model, forward and backward. Borrows its arguments. One thread at a time.
class GradientRun
{
public:
    GradientRun(const Interpreter& interpreter, const GradientSteps& steps,
                const GradientRequest& request, GradientFindings& findings, const JobContext& job);

    /// Runs the model forward. `cuts`: as from `chooseCuts`.
    Result<void> forward(const std::vector<at::IValue>& inputs,
                         const std::vector<std::size_t>& cuts);
    /// Runs backward for each probe. Call after `forward`.
    Result<void> backward(int probes, const Cotangents& cotangents, const SeeGradient& see);

private:
    struct Kept
    {
        std::size_t boundary = 0;
        KeptValues values;
    };
    using KeptPtr = std::shared_ptr<const Kept>;
    using Gradient = std::unordered_map<ValueRef, at::Tensor>; ///< of one probe

    Result<void> start(const std::vector<at::IValue>& inputs);
    Result<Frame> frameAt(const Kept& kept) const;
    /// The values to keep at a boundary; null if one of them cannot be passed between segments.
    KeptPtr keptFrom(const Frame& frame, std::size_t boundary) const;
    bool fits(const Kept& kept);
    void takeOutput(ValueRef ref, const at::IValue& value);
    Result<void> askCotangents(int probes, const Cotangents& cotangents);
    Result<SegmentRecord> record(const Kept& kept, std::size_t to);
    Result<void> goBack(const KeptPtr& kept, std::size_t to, SegmentRecord record, int firstProbe);
    /// Gradients of the record's entries, then of the sites made in it.
    Result<std::vector<at::Tensor>> derive(const SegmentRecord& record, int probe, bool isLast);
    Result<std::vector<at::Tensor>> gradientsAt(const SegmentRecord& record, int probe,
                                                const std::vector<at::Tensor>& inputs, bool isLast);
    Result<void> take(const SegmentRecord& record, StepRange range, int probe,
                      std::vector<at::Tensor> gradients);
    /// Runs backward over steps for which autograd failed, in two halves.
    Result<void> split(const KeptPtr& kept, std::size_t to, int firstProbe, Error error);
    /// Handles a single step for which autograd failed: records the operands without a derivative.
    Result<void> goPast(const KeptPtr& kept, int firstProbe, Error error);
    Result<KeptPtr> keptInside(const Kept& kept, std::size_t to);
    Result<void> tell(ValueRef site, int probe, const at::IValue* value, const at::Tensor& gradient,
                      const Frame& segment);

    const Interpreter& m_interpreter;
    RunNode m_runNode;
    const GradientSteps& m_steps;
    const GradientRequest& m_request;
    GradientFindings& m_findings;
    const JobContext& m_job;
    std::unordered_map<ValueRef, std::vector<std::size_t>> m_siteIndex;
    std::size_t m_lowest = 0; ///< the first step that makes a site, or reads one from `m_start`
    Frame m_start; ///< values that exist before the first step
    std::unordered_map<ValueRef, at::Tensor> m_outputs;
    std::vector<KeptPtr> m_kept; ///< in order; the first is that of the start
    std::unordered_set<const void*> m_storages; ///< whose bytes are counted
    std::optional<SegmentRecord> m_last; ///< of the last segment
    std::vector<Gradient>
        m_gradients; ///< by probe: of values whose producers have not run backward yet
    const SeeGradient* m_see = nullptr;
};

} // namespace qs
