// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/compare/sweep/cuts.h"
#include "engine/execute/interpreter.h"

#include <memory>
#include <vector>

namespace qs {

/// One form that runs on the CPU as its users run it, for the model's outputs. One thread at a
/// time.
class OutputRun
{
public:
    static Result<OutputRun> create(GraphPtr form);

    /// Later runs continue from cached values if possible, and cache their own. `name`: of the
    /// form; `budget`: bytes. Call before the first run.
    void continueFrom(const Continuation& from, const ValueKeys& keys, const std::string& name,
                      std::size_t budget);
    /// From now on each batch starts from the state that the one before left.
    void followSequence() { m_isSequence = true; }

    /// The model's outputs, flat and in order; undefined for non-tensors.
    Result<std::vector<at::Tensor>> run(const Batch& batch, const JobContext& job);

    /// The time of each node that ran.
    std::vector<NodeTime> times() const { return m_times->means(); }

private:
    OutputRun(Interpreter interpreter, std::shared_ptr<NodeTimes> times);
    Result<std::vector<at::Tensor>> runPart(const Batch& batch, const JobContext& job);

    Interpreter m_interpreter;
    std::shared_ptr<NodeTimes> m_times;
    std::unique_ptr<Cuts> m_cuts; ///< null: nothing is kept
    std::size_t m_first = 0; ///< position of the first node to run
    bool m_isSequence = false;
    ModelState m_state;
};

/// The arguments of the Output node, flat and in order. They are the graph's own.
std::vector<const Argument*> outputArguments(const Graph& graph);

/// The tensor of each argument of the Output node, flat; undefined for non-tensors.
Result<std::vector<at::Tensor>> outputTensors(const Interpreter& interpreter, const Frame& frame);

/// A frame at the start of a call: inputs, and the state that `carried` or the model holds.
Result<Frame> startFrame(const Interpreter& interpreter, const std::vector<at::IValue>& inputs,
                         const ModelState& carried);

/// A value of a running graph, or of its constant part.
Result<at::IValue> valueOf(const Interpreter& interpreter, const Frame& frame, ValueRef ref);

} // namespace qs
