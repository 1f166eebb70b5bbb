// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/compare/interior_errors.h"
#include "engine/compare/metrics/metrics.h"
#include "engine/compare/sweep/cuts.h"
#include "engine/compare/sweep/sweep_schedule.h"
#include "engine/distribute/relay.h"
#include "engine/execute/interpreter.h"

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace qs {

/// Runs batches through the float and the reference graph, stepped side by side, and sums the
/// errors of every unit. Both run in the layout of their inputs, as PyTorch runs the exported
/// files: in another one sums differ in their last bits, which a quantizer may turn into a step.
/// Keeps values only until their last use. One thread at a time.
class Sweep
{
public:
    /// `original`: runs in the place of the converted graph's own float model, which edits made of
    /// it; of values that both have the cumulative term alone is measured. Null: the own one.
    static Result<Sweep> create(const ConvertedModel& converted, at::Device device,
                                const GraphPtr& original = nullptr, const JobContext& job = {});

    /// One batch of so many samples; `inputs` on the sweep's device. Returns the float model's
    /// outputs and the reference form's, flat and in order; places that hold no tensor are
    /// undefined.
    struct Outputs
    {
        std::vector<at::Tensor> floatForm, referenceForm;
    };
    Result<Outputs> run(const std::vector<at::IValue>& inputs, std::int64_t samples,
                        const JobContext& job);
    /// Measures the local terms on a part of the `batches` of `samples` each, by `LocalSample`.
    /// Without this call they are measured on every batch. Call before the first batch, and before
    /// `continueFrom`.
    void sampleLocalTerms(std::int64_t batches) { m_sampledOf = batches; }
    /// From now on the sums of each unit are taken over from the batch before and passed on. The
    /// caller begins and ends each batch of the relay, which outlives the sweep. Slots: the units.
    void relayBy(Relay& relay) { m_relay = &relay; }
    /// Takes the sums after the last batch (of `Relay::finish`).
    Result<void> adopt(const Relay::States& states);
    /// From now on each batch starts from the state that the one before left, each side its own.
    void followSequence() { m_isSequence = true; }

    /// Reuses the sums of earlier sweeps for units that compute the same, and resumes from the last
    /// cut before the first other unit. Call before the first batch.
    void continueFrom(const Continuation& from, const ValueKeys& floatKeys,
                      const ValueKeys& referenceKeys, std::size_t budget);
    /// Leaves the sums for the next sweep. After the last batch.
    void keepSums(const Continuation& from) const;
    /// Measures nothing; instead calls `see` with y and y^ of each result of one unit, in order:
    /// the values that a comparison measures. Runs end at the unit, without outputs, unless the
    /// batches are a sequence. Without a unit, runs continue to the outputs and `see` is not
    /// called. Call before the first batch.
    using Watch = std::function<Result<void>(std::span<const ValuePair>)>;
    void watch(std::optional<std::size_t> unit, Watch see);
    /// Number of units to measure, and the first operator that must run; null without one.
    std::size_t unitsToMeasure() const;
    const Node* firstToRun() const;

    /// The graph that the reference form is compared with.
    const Graph& floatGraph() const { return m_float.graph(); }
    const std::vector<CompareUnit>& units() const { return m_units; }
    /// Whether a unit's shapes differ between the forms; a note reported it.
    bool hasUnmeasured() const;
    /// The four terms of a unit; of local ones on how many samples, where those are not all.
    /// Without a cumulative term: not measured.
    NodeError errorOf(std::size_t unit) const;
    const std::vector<ValueCounts>& counts() const { return m_counts; }
    /// The first unit with an infinite error, the batch, from 1, since which it is, and on which
    /// side.
    struct Odd
    {
        std::size_t unit = 0;
        std::int64_t batch = 0;
        bool isOfConverted = false; ///< else the float model's values are not finite
    };
    std::optional<Odd> firstOdd() const;
    std::vector<InteriorError> interiors() const { return m_interiors.result(); }
    /// The time of each node of the float graph; empty on a GPU, which runs asynchronously.
    std::vector<NodeTime> floatTimes() const;

private:
    Sweep(const ConvertedModel& converted, Interpreter floatForm, Interpreter referenceForm,
          std::vector<CompareUnit> units);
    Key unitKey(const Continuation& from, const CompareUnit& unit, const ValueKeys& floatKeys,
                const ValueKeys& referenceKeys) const;

    Result<void> step(std::size_t position, Frame& floatFrame, Frame& referenceFrame);
    /// For each node: inputs whose last consumer it is and that no measurement needs. A node of
    /// both graphs has one id in both, so measured values are kept per graph.
    using Expendable = std::unordered_map<NodeId, std::vector<ValueRef>>;
    Expendable findExpendable(const Graph& graph, ValueRef UnitInput::*in,
                              ValueRef UnitOutput::*out) const;
    Result<void> advance(const Interpreter& interpreter, const Node& node, Frame& frame,
                         const Expendable& expendable) const;
    /// y and y^ of a unit's results; empty if one is not a tensor of floats.
    Result<std::vector<ValuePair>> results(std::size_t unit, const Frame& floatFrame,
                                           const Frame& referenceFrame) const;
    /// `spent`: values of the reference graph without later readers.
    Result<void> measure(std::size_t unit, const Frame& floatFrame, Frame& referenceFrame,
                         std::span<const ValueRef> spent);
    /// The same, with the sums of the batches before this one.
    Result<void> measureInTurn(std::size_t unit, const Frame& floatFrame, Frame& referenceFrame,
                               std::span<const ValueRef> spent);
    std::string packed(std::size_t unit) const;
    Result<void> restore(std::size_t unit, const std::string& bytes);
    Result<void> measureUnchanged(std::size_t unit, const Frame& floatFrame,
                                  const Frame& referenceFrame);
    Result<void> measureCumulative(std::size_t unit, const Frame& floatFrame,
                                   const Frame& referenceFrame);
    bool wantsLocalTerms(std::size_t unit) const;
    Result<at::IValue> inNumbers(const UnitInput& input, const Frame& referenceFrame) const;
    Result<void> measureFunctions(std::size_t unit, const Frame& floatFrame, Frame& referenceFrame,
                                  std::span<const ValueRef> spent);

    /// False, once and for all, for a unit whose value has another shape in the converted model, as
    /// a selection by values has; a note names the first such node.
    bool comparesShapes(std::size_t unit, const at::Tensor& y, const at::Tensor& other);
    Result<void> checkSignal(const CompareUnit& unit, const Frame& floatFrame) const;
    Result<void> measureInterior(const CompareUnit& unit, const Frame& floatFrame,
                                 const Frame& referenceFrame);

    Interpreter m_float;
    Interpreter m_reference;
    InteriorErrors m_interiors;
    std::vector<CompareUnit> m_units;
    SweepSchedule m_schedule;
    std::vector<UnitSums> m_sums;
    std::vector<ValueCounts> m_counts;
    std::vector<LocalSample> m_local; ///< by unit
    std::optional<std::int64_t> m_sampledOf; ///< batches; empty: local terms on each of them
    std::vector<bool> m_unmeasured; ///< by unit: shapes differ
    std::vector<std::int64_t> m_oddSince; ///< by unit: the batch; 0 = no error is infinite
    std::vector<Key> m_unitKeys; ///< by unit; empty without a cache
    std::vector<bool> m_known; ///< by unit: an earlier sweep measured it
    std::unique_ptr<Cuts> m_cuts; ///< null: nothing is kept
    std::size_t m_first = 0; ///< step
    std::size_t m_end; ///< the step after the last one to run
    std::optional<std::size_t> m_watched; ///< unit
    Watch m_see;
    Relay* m_relay = nullptr; ///< null in a single process
    std::int64_t m_batch = 0, m_batchSamples = 0;
    Expendable m_expendableFloat, m_expendableReference;
    std::size_t m_referenceAt = 0;
    std::shared_ptr<NodeTimes> m_floatTimes; ///< null on a GPU
    GraphPtr m_edited; ///< null, or the edited float graph; the float graph is the original then
    std::vector<std::size_t> m_floatInputs; ///< by input of the float graph: which of those given
    bool m_isSequence = false;
    ModelState m_floatState, m_referenceState;
    JobContext m_job;
};

} // namespace qs
