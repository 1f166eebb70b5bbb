// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/compare/sweep/cuts.h"
#include "engine/execute/interpreter.h"

#include <memory>
#include <vector>

namespace qs {

/// Runs one form on the CPU to get the model's outputs. One thread at a time.
class OutputRun
{
public:
    static Result<OutputRun> create(GraphPtr form);

    /// Makes later runs continue from cached values if possible, and cache theirs. `name`: of the
    /// form; `budget`: bytes for cached values. Call before the first run.
    void continueFrom(const Continuation& from, const ValueKeys& keys, const std::string& name,
                      std::size_t budget);
    /// Makes each later batch start from the state after the previous batch.
    void followSequence() { m_isSequence = true; }

    /// The model's outputs, flat and in order; undefined for non-tensors.
    Result<std::vector<at::Tensor>> run(const Batch& batch, const JobContext& job);

    /// The mean time of each node that ran.
    std::vector<NodeTime> times() const { return m_times->means(); }

private:
    OutputRun(Interpreter interpreter, std::shared_ptr<NodeTimes> times);
    Result<std::vector<at::Tensor>> runPart(const Batch& batch, const JobContext& job);

    Interpreter m_interpreter;
    std::shared_ptr<NodeTimes> m_times;
    std::unique_ptr<Cuts> m_cuts; ///< null: nothing is cached
    std::size_t m_first = 0; ///< position of the first node to run
    bool m_isSequence = false;
    ModelState m_state;
};

/// The arguments of the Output node, flattened and in order. Owned by the graph.
std::vector<const Argument*> outputArguments(const Graph& graph);

/// The tensor of each argument of the Output node, flattened; undefined for non-tensors.
Result<std::vector<at::Tensor>> outputTensors(const Interpreter& interpreter, const Frame& frame);

/// A frame for the start of a call, with the inputs and the state of `carried`, or of the model if
/// `carried` has none.
Result<Frame> startFrame(const Interpreter& interpreter, const std::vector<at::IValue>& inputs,
                         const ModelState& carried);

/// A value of a running graph, or of its constant part.
Result<at::IValue> valueOf(const Interpreter& interpreter, const Frame& frame, ValueRef ref);

} // namespace qs
