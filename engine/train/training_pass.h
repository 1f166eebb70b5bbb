// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/execute/gradients/segment_record.h"
#include "engine/train/training_state.h"

#include <functional>
#include <memory>
#include <set>
#include <span>
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
    static Result<TrainingPass> create(const TrainingGraph& graph, TrainingState& state,
                                       const at::Device& device, const JobContext& job);

    /// Errors: those of the nodes and of the loss; no gradient at all, with the node that has no
    /// derivative; Cancelled (checked between nodes).
    Result<TrainingGradients> differentiate(const std::vector<at::IValue>& inputs,
                                            const LossOf& lossOf, TrainingModes modes,
                                            const JobContext& job);
    /// The model's outputs in evaluation, as for `LossOf`. Errors: those of the nodes; Cancelled.
    Result<std::vector<at::Tensor>> outputs(const std::vector<at::IValue>& inputs,
                                            const JobContext& job);

private:
    /// What observers do at present. Shared with the interpreter.
    struct Rounding
    {
        TrainingState& state;
        TrainingModes modes;
    };
    TrainingPass(const TrainingGraph& graph, std::shared_ptr<Rounding> rounding,
                 Interpreter interpreter, std::vector<ValueRef> outputs);
    Result<Frame> start(const std::vector<at::IValue>& inputs) const;
    RunNode runnerOf(TrainingModes modes, const JobContext& job);
    Result<void> runBatchNorm(const Node& node, Frame& frame, bool usesBatch) const;
    Result<std::vector<at::Tensor>>
    outputsIn(const std::vector<std::pair<ValueRef, at::Tensor>>& made) const;
    std::string stopsText(const GradientStops& stops) const;

    const TrainingGraph& m_graph;
    std::shared_ptr<Rounding> m_rounding;
    TrainingState& m_state;
    Interpreter m_interpreter;
    std::vector<ValueRef> m_outputs; ///< invalid where an output is a constant
    std::set<NodeId> m_batchNorms;
    GradientSteps m_steps;
    GradientStops m_stops;
};

} // namespace qs
