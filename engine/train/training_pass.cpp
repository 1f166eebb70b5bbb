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
                           Interpreter interpreter, std::vector<ValueRef> outputs,
                           std::size_t bytes)
    : m_graph(graph)
    , m_rounding(std::move(rounding))
    , m_state(m_rounding->state)
    , m_interpreter(std::move(interpreter))
    , m_outputs(std::move(outputs))
    , m_batchNorms(graph.batchNorms.begin(), graph.batchNorms.end())
    , m_steps(stepsOf(*graph.graph, m_state, m_interpreter, m_outputs))
{
    if (bytes > 0)
        m_cuts.emplace(CutLimits {bytes, bytes});
}

Result<TrainingPass> TrainingPass::create(const TrainingGraph& graph, TrainingState& state,
                                          const at::Device& device, std::size_t bytes,
                                          const JobContext& job)
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
    TrainingPass made(graph, rounding, std::move(interpreter), outputRefs(*graph.graph), bytes);
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

std::vector<at::Tensor> TrainingPass::outputsIn(const Named& made) const
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

std::string TrainingPass::stoppingNode() const
{
    for (const auto& [node, kind] : m_stops.seen)
        if (kind == GradientStops::Kind::NoDerivative)
            return m_graph.graph->get(node).name;
    return m_stops.unfollowed.empty() ? std::string()
                                      : m_graph.graph->get(m_stops.unfollowed.begin()->first).name;
}

Error TrainingPass::noDerivative() const
{
    const std::string stopping = stoppingNode();
    return makeError(ErrorCode::Unsupported,
                     "no derivative of an output reaches a parameter that trains"
                         + (stopping.empty() ? "" : ": " + inQuotes(stopping) + " has none"))
        .inFile(m_graph.model->info().path);
}

Result<std::vector<TrainingPass::Segment>>
TrainingPass::forward(const std::vector<std::size_t>& cuts, const RunNode& run, Frame& frame,
                      Named& outputs, const JobContext& job)
{
    std::vector<Segment> segments(1);
    const auto take = [&](ValueRef ref, const at::IValue& value) {
        if (value.isTensor())
            outputs.emplace_back(ref, value.toTensor());
    };
    std::size_t at = 0;
    for (const std::size_t cut : cuts) {
        if (segments.back().observed.empty())
            segments.back().observed = m_state.observed();
        QS_CHECK(runPlainly(run, m_steps, {at, cut}, frame, take, job));
        at = cut;
        if (auto kept = keptValues(m_interpreter.graph(), m_steps, frame, cut))
            segments.push_back({cut, std::move(*kept)});
    }
    return segments;
}

Result<double> TrainingPass::lossAt(const Named& made, const LossOf& lossOf,
                                    Gradient& gradient) const
{
    return guardTorchValue<double>([&]() -> Result<double> {
        const GradientScope scope;
        std::vector<at::Tensor> outputs = outputsIn(made), leaves;
        for (at::Tensor& output : outputs)
            if (output.defined())
                leaves.push_back(output = output.detach().set_requires_grad(true));
        const at::Tensor loss = lossOf(outputs);
        if (!loss.defined() || !loss.requires_grad())
            return fail(noDerivative());
        const auto found = torch::autograd::grad({loss}, leaves, {}, false, false, true);
        std::size_t next = 0;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (!outputs[i].defined())
                continue;
            const at::Tensor& more = found[next++];
            if (at::Tensor& sum = gradient[m_outputs[i]]; more.defined())
                sum = sum.defined() ? sum + more : more;
        }
        return loss.item<double>();
    });
}

Result<void> TrainingPass::goBack(const SegmentRecord& record, Gradient& gradient,
                                  TrainingGradients& learned) const
{
    return guardTorch([&]() -> Result<void> {
        std::vector<at::Tensor> made, cotangents, leaves;
        for (const auto& [ref, tensor] : record.made) {
            const auto at = gradient.find(ref);
            if (at != gradient.end() && at->second.defined() && tensor.requires_grad()) {
                made.push_back(tensor);
                cotangents.push_back(at->second);
            }
            gradient.erase(ref);
        }
        for (const auto& [ref, leaf] : record.entries)
            leaves.push_back(leaf);
        const std::vector<at::Tensor> tensors = m_state.learned();
        for (const at::Tensor& scale : tensors)
            if (scale.requires_grad())
                leaves.push_back(scale);
        if (made.empty() || leaves.empty())
            return {};
        const auto found = torch::autograd::grad(made, leaves, cotangents, false, false, true);
        auto next = found.begin();
        const auto add = [&](at::Tensor& sum) {
            if (const at::Tensor& more = *next++; more.defined())
                sum = sum.defined() ? sum + more : more;
        };
        for (const auto& [ref, leaf] : record.entries)
            add(m_steps.isSite(ref) ? learned.of.at(m_state.indexOf(ref.node)) : gradient[ref]);
        for (std::size_t i = 0; i < tensors.size(); ++i)
            if (tensors[i].requires_grad())
                add(learned.of[i]);
        return {};
    });
}

Result<TrainingGradients> TrainingPass::differentiate(const std::vector<at::IValue>& inputs,
                                                      const LossOf& lossOf, TrainingModes modes,
                                                      const JobContext& job)
{
    const RunNode run = runnerOf(modes, job);
    QS_TRY(Frame frame, start(inputs));
    Named outputs;
    const auto cuts
        = m_cuts ? m_cuts->of(*m_graph.graph, m_steps, inputs) : std::vector<std::size_t>();
    QS_TRY(std::vector<Segment> segments, forward(cuts, run, frame, outputs, job));
    std::size_t to = m_steps.size();
    QS_TRY(SegmentRecord record,
           recordSegment(run, m_steps, {segments.back().from, to}, std::move(frame), m_stops, job));
    outputs.insert(outputs.end(), record.made.begin(), record.made.end());
    Gradient gradient;
    TrainingGradients made {0, std::vector<at::Tensor>(m_state.learned().size())};
    QS_TRY(made.loss, lossAt(outputs, lossOf, gradient));
    outputs.clear();
    const auto observed = segments.size() > 1 ? m_state.observed() : std::vector<at::Tensor>();
    for (;;) {
        if (auto went = goBack(record, gradient, made); !went) {
            QS_CHECK(job.check()); // autograd reports a cancel as another error
            return fail(std::move(went).error());
        }
        record = {};
        to = segments.back().from;
        segments.pop_back();
        if (segments.empty())
            break;
        // The same computation as the first time, from the same state.
        m_state.restoreObserved(segments.back().observed);
        QS_TRY(frame, start(inputs));
        for (const auto& [ref, value] : segments.back().kept)
            frame.set(ref, value);
        QS_TRY(record,
               recordSegment(run, m_steps, {segments.back().from, to}, std::move(frame), m_stops,
                             job));
    }
    if (!observed.empty())
        m_state.restoreObserved(observed);
    if (std::none_of(made.of.begin(), made.of.end(),
                     [](const at::Tensor& one) { return one.defined(); }))
        return fail(noDerivative());
    return made;
}

bool TrainingPass::mayGoBack(const SegmentRecord& record) const
{
    Gradient gradient;
    for (const auto& [ref, tensor] : record.made)
        if (tensor.requires_grad())
            gradient[ref] = at::ones_like(tensor);
    TrainingGradients learned {0, std::vector<at::Tensor>(m_state.learned().size())};
    return bool(goBack(record, gradient, learned));
}

Result<bool> TrainingPass::findStops(const std::vector<at::IValue>& inputs, const JobContext& job)
{
    const RunNode run = runnerOf({}, job);
    QS_TRY(Frame frame, start(inputs));
    bool found = false;
    for (std::size_t step = 0; step < m_steps.size(); ++step) {
        if (m_steps.isRecorded(step)) {
            QS_TRY(const SegmentRecord record,
                   recordSegment(run, m_steps, {step, step + 1}, frame, m_stops, job));
            const bool goesBack = mayGoBack(record);
            QS_CHECK(job.check());
            for (const auto& [ref, leaf] : record.entries)
                if (!goesBack)
                    found = m_stops.unfollowed[m_steps.node(step).id].insert(ref).second || found;
        }
        QS_CHECK(runPlainly(
            run, m_steps, {step, step + 1}, frame, [](ValueRef, const at::IValue&) {}, job));
    }
    return found;
}

Result<std::vector<at::Tensor>> TrainingPass::outputs(const std::vector<at::IValue>& inputs,
                                                      const JobContext& job)
{
    QS_TRY(Frame frame, start(inputs));
    Named made;
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
