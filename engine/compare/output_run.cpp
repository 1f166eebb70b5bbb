// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/output_run.h"

namespace qs {

namespace {

void flatten(const Argument& argument, std::vector<const Argument*>& out)
{
    if (const auto* list = argument.asList())
        for (const Argument& item : *list)
            flatten(item, out);
    else
        out.push_back(&argument);
}

} // namespace

Result<at::IValue> valueOf(const Interpreter& interpreter, const Frame& frame, ValueRef ref)
{
    if (const at::IValue* alive = frame.tryGet(ref))
        return *alive;
    if (interpreter.isConstant(ref))
        return interpreter.constant(ref);
    return fail(makeError(ErrorCode::Internal, "a value was freed too early")
                    .atNode(interpreter.graph().get(ref.node).name));
}

Result<Frame> startFrame(const Interpreter& interpreter, const std::vector<at::IValue>& inputs,
                         const ModelState& carried)
{
    Frame frame;
    QS_CHECK(interpreter.startState(frame, carried));
    const auto nodes = interpreter.graph().inputs();
    for (std::size_t i = 0; i < nodes.size() && i < inputs.size(); ++i)
        frame.set({nodes[i]->id, 0}, inputs[i]);
    return frame;
}

std::vector<const Argument*> outputArguments(const Graph& graph)
{
    std::vector<const Argument*> arguments;
    for (const auto& argument : graph.output().args)
        flatten(argument.value, arguments);
    return arguments;
}

Result<std::vector<at::Tensor>> outputTensors(const Interpreter& interpreter, const Frame& frame)
{
    std::vector<at::Tensor> tensors;
    for (const Argument* argument : outputArguments(interpreter.graph())) {
        tensors.emplace_back();
        if (const ValueRef* ref = argument->asRef()) {
            QS_TRY(const at::IValue value, valueOf(interpreter, frame, *ref));
            if (value.isTensor())
                tensors.back() = value.toTensor();
        }
    }
    return tensors;
}

OutputRun::OutputRun(Interpreter interpreter, std::shared_ptr<NodeTimes> times)
    : m_interpreter(std::move(interpreter))
    , m_times(std::move(times))
{
}

Result<OutputRun> OutputRun::create(GraphPtr form)
{
    auto times = std::make_shared<NodeTimes>();
    QS_TRY(Interpreter interpreter, Interpreter::create(std::move(form), {.times = times}));
    return OutputRun(std::move(interpreter), std::move(times));
}

void OutputRun::continueFrom(const Continuation& from, const ValueKeys& keys,
                             const std::string& name, std::size_t budget)
{
    const CutSide side = nodeByNode(m_interpreter, keys);
    m_cuts = std::make_unique<Cuts>(from, name, budget, std::span(&side, 1));
    m_first = m_cuts->resume(m_interpreter.graph().nodes().size());
}

Result<std::vector<at::Tensor>> OutputRun::run(const Batch& batch, const JobContext& job)
{
    if (m_cuts)
        return runPart(batch, job);
    QS_TRY(const auto values,
           m_interpreter.run(batch.inputs, {}, job, m_isSequence ? &m_state : nullptr));
    std::vector<at::Tensor> tensors;
    for (const at::IValue& value : values)
        tensors.push_back(value.isTensor() ? value.toTensor() : at::Tensor());
    return tensors;
}

Result<std::vector<at::Tensor>> OutputRun::runPart(const Batch& batch, const JobContext& job)
{
    m_times->beginRun();
    QS_TRY(Frame frame, startFrame(m_interpreter, batch.inputs, {}));
    Frame* const frames[] = {&frame};
    m_cuts->restore(frames);
    const auto nodes = m_interpreter.graph().nodes();
    for (std::size_t position = m_first; position < nodes.size(); ++position) {
        QS_CHECK(job.check());
        const Node& node = *nodes[position];
        const auto dead = m_interpreter.deadAfter(position);
        if (node.isOperator() && !m_interpreter.isConstant({node.id, 0}))
            QS_CHECK(m_interpreter.runNode(node, frame, dead, job));
        for (const ValueRef ref : dead)
            frame.release(ref);
        m_cuts->reached(position, frames);
    }
    m_cuts->endBatch();
    return outputTensors(m_interpreter, frame);
}

} // namespace qs
