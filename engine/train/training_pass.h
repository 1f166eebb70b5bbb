// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/execute/gradients/segment_cuts.h"
#include "engine/execute/gradients/segment_record.h"
#include "engine/train/training_state.h"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

namespace qs {

/// What a forward pass updates besides its values.
struct TrainingModes
{
    bool observes = false; ///< fake quantizers update their ranges
    bool batchStatistics = false; ///< batch norms use the batch's statistics and update theirs
    Saturation saturation = Saturation::Observer; ///< where rounded values saturate
};

/// The loss of a batch, a number that autograd follows to the outputs. `outputs`: the model's, flat
/// and in order; undefined where an output is not a tensor of floats. May throw LibTorch's
/// exceptions.
using LossOf = std::function<at::Tensor(std::span<const at::Tensor> outputs)>;

/// A loss and its gradients.
struct TrainingGradients
{
    double loss = 0;
    std::vector<at::Tensor> of; ///< in the order of `TrainingState::learned()`; may be undefined
};

/// Runs a training graph forward and backward. Borrows the graph and the state. One thread at a
/// time.
class TrainingPass
{
public:
    /// Errors: no output depends on a trained parameter; Cancelled.
    /// `bytes`: memory for the values that a step keeps to differentiate them, by shapes; 0 = no
    /// limit. A step that needs more runs forward by segments and each segment again (as
    /// `Gradients`); the result is the same to the bit.
    static Result<TrainingPass> create(const TrainingGraph& graph, TrainingState& state,
                                       const at::Device& device, std::size_t bytes,
                                       const JobContext& job);

    /// Errors: those of the nodes and of the loss; no gradient at all, with the node that has no
    /// derivative; Cancelled (checked between nodes).
    Result<TrainingGradients> differentiate(const std::vector<at::IValue>& inputs,
                                            const LossOf& lossOf, TrainingModes modes,
                                            const JobContext& job);
    /// The model's outputs in evaluation, as for `LossOf`. Errors: those of the nodes; Cancelled.
    Result<std::vector<at::Tensor>> outputs(const std::vector<at::IValue>& inputs,
                                            const JobContext& job);

    /// Looks for nodes whose derivative fails only on the way back; later steps go past them. Does
    /// not change the state. False if none was found. Errors: those of the nodes; Cancelled.
    Result<bool> findStops(const std::vector<at::IValue>& inputs, const JobContext& job);
    /// The name of a node without a derivative that the steps so far met; "" without one.
    std::string stoppingNode() const;

private:
    /// What observers do at present. Shared with the interpreter.
    struct Rounding
    {
        TrainingState& state;
        TrainingModes modes;
    };
    /// Consecutive steps that run forward, and backward before those of earlier segments.
    struct Segment
    {
        std::size_t from = 0;
        KeptValues kept {};
        std::vector<at::Tensor> observed {}; ///< the state's, before it; empty for the last one
    };
    using Named = SegmentRecord::Named;
    using Gradient = std::unordered_map<ValueRef, at::Tensor>;

    TrainingPass(const TrainingGraph& graph, std::shared_ptr<Rounding> rounding,
                 Interpreter interpreter, std::vector<ValueRef> outputs, std::size_t bytes);
    Result<Frame> start(const std::vector<at::IValue>& inputs) const;
    RunNode runnerOf(TrainingModes modes, const JobContext& job);
    /// Runs all segments forward but the last, whose start is then in the frame; adds outputs.
    Result<std::vector<Segment>> forward(const std::vector<std::size_t>& cuts, const RunNode& run,
                                         Frame& frame, Named& outputs, const JobContext& job);
    /// The loss, and its gradients at the outputs.
    Result<double> lossAt(const Named& made, const LossOf& lossOf, Gradient& gradient) const;
    /// Takes the gradients at what the segment made back to what it read, and to `learned`.
    Result<void> goBack(const SegmentRecord& record, Gradient& gradient,
                        TrainingGradients& learned) const;
    bool mayGoBack(const SegmentRecord& record) const;
    Result<void> runBatchNorm(const Node& node, Frame& frame, bool usesBatch) const;
    std::vector<at::Tensor> outputsIn(const Named& made) const;
    Error noDerivative() const;

    const TrainingGraph& m_graph;
    std::shared_ptr<Rounding> m_rounding;
    TrainingState& m_state;
    Interpreter m_interpreter;
    std::vector<ValueRef> m_outputs; ///< invalid where an output is a constant
    std::set<NodeId> m_batchNorms;
    GradientSteps m_steps;
    GradientStops m_stops;
    std::optional<CutsOfCalls> m_cuts; ///< empty: steps are not cut
};

} // namespace qs
