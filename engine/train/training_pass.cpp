// SPDX-License-Identifier: Apache-2.0
#include "engine/train/training_pass.h"

#include "engine/base/autograd/gradient_scope.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/compare/output_run.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/prepare/weighted_op.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

namespace qs {

namespace {

/// References of the model's outputs; invalid for constants.
std::vector<ValueRef> outputRefs(const Graph& graph)
{
    std::vector<ValueRef> refs;
    for (const Argument* argument : outputArguments(graph))
        refs.push_back(argument->asRef() ? *argument->asRef() : ValueRef());
    return refs;
}

std::vector<ValueRef> validOnes(std::vector<ValueRef> refs)
{
    std::erase_if(refs, [](ValueRef ref) { return !ref; });
    return refs;
}

std::vector<ValueRef> trainedRefs(const TrainingState& state)
{
    std::vector<ValueRef> refs;
    for (const NodeId node : state.trained())
        refs.push_back({node, 0});
    return refs;
}

/// Values that a training changes: those that depend on its tensors, and rounded ones.
std::unordered_set<ValueRef> changingValues(const Graph& graph, const TrainingState& state)
{
    std::unordered_set<ValueRef> changing;
    for (const auto& [node, index] : state.nodes())
        changing.insert({node, 0});
    for (const NodePtr& node : graph.nodes()) {
        bool changes = node->isOp(kObserveTarget);
        for (const NamedArgument& arg : node->args)
            forEachRef(arg.value,
                       [&](ValueRef ref) { changes = changes || changing.contains(ref); });
        for (std::uint32_t i = 0; changes && i < node->outputs.size(); ++i)
            changing.insert({node->id, i});
    }
    return changing;
}

GradientSteps stepsOf(const Graph& graph, const TrainingState& state,
                      const Interpreter& interpreter, const std::vector<ValueRef>& outputs)
{
    const auto changing = changingValues(graph, state);
    return {graph, trainedRefs(state), validOnes(outputs),
            [&](ValueRef ref) { return interpreter.isConstant(ref) && !changing.contains(ref); }};
}

double numberOf(const Node& node, std::string_view name, double otherwise)
{
    const Argument* argument = node.tryArg(name);
    return argument && argument->asDouble() ? *argument->asDouble() : otherwise;
}

} // namespace

TrainingPass::TrainingPass(const TrainingGraph& graph, std::shared_ptr<Rounding> rounding,
                           Interpreter interpreter, std::vector<ValueRef> outputs)
    : m_graph(graph)
    , m_rounding(std::move(rounding))
    , m_state(m_rounding->state)
    , m_interpreter(std::move(interpreter))
    , m_outputs(std::move(outputs))
    , m_batchNorms(graph.batchNorms.begin(), graph.batchNorms.end())
    , m_steps(stepsOf(*graph.graph, m_state, m_interpreter, m_outputs))
{
}

Result<TrainingPass> TrainingPass::create(const TrainingGraph& graph, TrainingState& state,
                                          const at::Device& device, const JobContext& job)
{
    const auto rounding = std::make_shared<Rounding>(Rounding {state, {}});
    const ObserverResult observed = [rounding](const Node& observer, const at::IValue& value) {
        return guardTorchValue<at::IValue>([&]() -> Result<at::IValue> {
            if (!value.isTensor())
                return value;
            return at::IValue(
                rounding->state.quantizer(observer.observer)
                    .apply(value.toTensor(), rounding->modes.observes, rounding->modes.saturation));
        });
    };
    QS_TRY(Interpreter interpreter,
           Interpreter::create(graph.graph, {.device = device, .observed = observed}, job));
    TrainingPass made(graph, rounding, std::move(interpreter), outputRefs(*graph.graph));
    for (const NodeId node : state.trained())
        if (made.m_steps.reachesOutput({node, 0}))
            return made;
    return fail(makeError(ErrorCode::Unsupported, "no output depends on a parameter that trains")
                    .inFile(graph.model->info().path));
}

Result<Frame> TrainingPass::start(const std::vector<at::IValue>& inputs) const
{
    QS_TRY(Frame frame, startFrame(m_interpreter, inputs, {}));
    for (const auto& [node, index] : m_state.nodes())
        frame.set({node, 0}, m_state.tensor(node));
    return frame;
}

Result<void> TrainingPass::runBatchNorm(const Node& node, Frame& frame, bool usesBatch) const
{
    const auto read = [&](const char* name) -> Result<at::Tensor> {
        const ValueRef ref = argumentRef(node, name);
        if (!ref)
            return at::Tensor();
        QS_TRY(const at::IValue value, valueOf(m_interpreter, frame, ref));
        return value.toTensor();
    };
    QS_TRY(const at::Tensor x, read("input"));
    QS_TRY(const at::Tensor weight, read("weight"));
    QS_TRY(const at::Tensor bias, read("bias"));
    QS_TRY(const at::Tensor mean, read("running_mean"));
    QS_TRY(const at::Tensor variance, read("running_var"));
    frame.set({node.id, 0},
              at::batch_norm(x, weight, bias, mean, variance, usesBatch,
                             numberOf(node, "momentum", 0.1), numberOf(node, "eps", 1e-5), false));
    for (std::uint32_t i = 1; i < node.outputs.size(); ++i)
        frame.set({node.id, i}, at::empty({0}, x.options()));
    return {};
}

RunNode TrainingPass::runnerOf(TrainingModes modes, const JobContext& job)
{
    m_rounding->modes = modes;
    return [this, modes, &job](const Node& node, Frame& frame,
                               std::span<const ValueRef> expendable) -> Result<void> {
        if (!m_batchNorms.contains(node.id))
            return m_interpreter.runNode(node, frame, expendable, job);
        const bool isFrozen = m_state.isFrozen(argumentRef(node, "running_mean").node);
        return guardTorch(
            [&] { return runBatchNorm(node, frame, modes.batchStatistics && !isFrozen); });
    };
}

Result<std::vector<at::Tensor>>
TrainingPass::outputsIn(const std::vector<std::pair<ValueRef, at::Tensor>>& made) const
{
    std::vector<at::Tensor> outputs;
    for (const ValueRef ref : m_outputs) {
        const auto found = std::find_if(made.begin(), made.end(),
                                        [&](const auto& one) { return one.first == ref; });
        const bool isFloats = found != made.end() && found->second.is_floating_point();
        outputs.push_back(isFloats ? found->second : at::Tensor());
    }
    return outputs;
}

std::string TrainingPass::stopsText(const GradientStops& stops) const
{
    for (const auto& [node, kind] : stops.seen)
        if (kind == GradientStops::Kind::NoDerivative)
            return ": " + inQuotes(m_graph.graph->get(node).name) + " has no derivative";
    for (const auto& [node, operands] : stops.unfollowed)
        return ": " + inQuotes(m_graph.graph->get(node).name) + " has no derivative";
    return {};
}

Result<TrainingGradients> TrainingPass::differentiate(const std::vector<at::IValue>& inputs,
                                                      const LossOf& lossOf, TrainingModes modes,
                                                      const JobContext& job)
{
    QS_TRY(Frame frame, start(inputs));
    QS_TRY(const SegmentRecord record,
           recordSegment(runnerOf(modes, job), m_steps, {0, m_steps.size()}, std::move(frame),
                         m_stops, job));
    QS_TRY(const auto outputs, outputsIn(record.made));
    return guardTorchValue<TrainingGradients>([&]() -> Result<TrainingGradients> {
        at::Tensor loss;
        {
            const GradientScope scope;
            loss = lossOf(outputs);
        }
        if (!loss.defined() || !loss.requires_grad())
            return fail(makeError(ErrorCode::Unsupported,
                                  "no derivative of an output reaches a parameter that trains"
                                      + stopsText(m_stops))
                            .inFile(m_graph.model->info().path));
        std::vector<at::Tensor> leaves;
        for (const auto& [ref, leaf] : record.entries)
            leaves.push_back(leaf);
        const std::vector<at::Tensor> learned = m_state.learned();
        const std::size_t first = leaves.size();
        for (const at::Tensor& scale : learned)
            if (scale.requires_grad())
                leaves.push_back(scale);
        const auto found = torch::autograd::grad({loss}, leaves, {}, false, false, true);
        TrainingGradients made {loss.item<double>(), std::vector<at::Tensor>(learned.size())};
        for (std::size_t i = 0; i < first; ++i) {
            if (!found[i].defined())
                continue;
            at::Tensor& sum = made.of.at(m_state.indexOf(record.entries[i].first.node));
            sum = sum.defined() ? sum + found[i] : found[i];
        }
        std::size_t next = first;
        for (std::size_t i = 0; i < learned.size(); ++i)
            if (learned[i].requires_grad())
                made.of[i] = found[next++];
        return made;
    });
}

Result<std::vector<at::Tensor>> TrainingPass::outputs(const std::vector<at::IValue>& inputs,
                                                      const JobContext& job)
{
    QS_TRY(Frame frame, start(inputs));
    std::vector<std::pair<ValueRef, at::Tensor>> made;
    QS_CHECK(runPlainly(
        runnerOf({.saturation = Saturation::Storage}, job), m_steps, {0, m_steps.size()}, frame,
        [&](ValueRef ref, const at::IValue& value) {
            if (value.isTensor())
                made.emplace_back(ref, value.toTensor());
        },
        job));
    return outputsIn(made);
}

} // namespace qs
