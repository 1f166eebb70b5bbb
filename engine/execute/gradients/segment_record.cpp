// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/gradients/segment_record.h"

#include "engine/base/autograd/gradient_scope.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/control/goes_on.h"
#include "engine/execute/control/tuple_runner.h"
#include "engine/execute/op_table.h"
#include "engine/execute/torch_types.h"

#include <ATen/ops/alias.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

using AutogradNode = torch::autograd::Node;

bool asksForGradient(const at::IValue& value)
{
    return anyTensor(value, [](const at::Tensor& tensor) { return tensor.requires_grad(); });
}

/// Whether autograd has no formula for an operator inside the node: it then records a function that
/// fails, or returns no gradient and warns.
bool lacksFormula(const std::vector<at::IValue>& inputs, const std::vector<at::IValue>& outputs)
{
    constexpr std::string_view kLacking = "NotImplemented";
    std::unordered_set<const AutogradNode*> seen;
    for (const at::IValue& input : inputs)
        anyTensor(input, [&](const at::Tensor& tensor) {
            seen.insert(tensor.grad_fn().get());
            return false;
        });
    seen.insert(nullptr);
    std::vector<const AutogradNode*> todo;
    const auto visit = [&](const AutogradNode* node) {
        if (seen.insert(node).second)
            todo.push_back(node);
    };
    for (const at::IValue& output : outputs)
        anyTensor(output, [&](const at::Tensor& tensor) {
            visit(tensor.grad_fn().get());
            return false;
        });
    while (!todo.empty()) {
        const AutogradNode* node = todo.back();
        todo.pop_back();
        if (node->name().find(kLacking) != std::string::npos)
            return true;
        for (const torch::autograd::Edge& edge : node->next_edges())
            visit(edge.function.get());
    }
    return false;
}

/// True if the operator reads only the form of an argument, not its values (`new_zeros`,
/// `full_like`). Such operators have options such as `pin_memory`.
bool readsFormAlone(const Node& node)
{
    const auto op = findOperator(node.target);
    return op && op->schema().argumentIndexWithName("pin_memory").has_value();
}

/// Whether the value can be passed between segments. Gradients need single tensors, and a quantize
/// step that is joined with its dequantize passes floats on.
bool isCuttable(const Value& declared, const at::IValue& value, bool carries)
{
    if (!value.isTensor())
        return !carries
            || (!value.isGenericDict() && !value.isObject()
                && !anyTensor(value, [](const at::Tensor&) { return true; }));
    const DType type = declared.type.dtype;
    return type == DType::Unknown || isFloating(type) || !isDifferentiable(value)
        || toScalarType(type) == value.toTensor().scalar_type();
}

class SegmentRecorder
{
public:
    SegmentRecorder(const RunNode& runNode, const GradientSteps& steps, StepRange range,
                    GradientStops& stops, const JobContext& job)
        : m_runNode(runNode)
        , m_steps(steps)
        , m_range(range)
        , m_stops(stops)
        , m_job(job)
    {
    }

    Result<SegmentRecord> record(Frame frame)
    {
        m_record.frame = std::move(frame);
        makeLeaves();
        for (std::size_t step = m_range.from; step < m_range.to; ++step) {
            const Node& node = m_steps.node(step);
            QS_CHECK(checkGoesOn(m_job, node));
            QS_CHECK(guardTorch([&] { return runStep(step); }));
            for (const ValueRef ref : m_steps.deadAfter(step))
                if (!m_steps.isReadBySite(ref))
                    m_record.frame.release(ref);
        }
        return std::move(m_record);
    }

private:
    void makeLeaves()
    {
        std::unordered_set<ValueRef> seen;
        for (std::size_t step = m_range.from; step < m_range.to; ++step)
            for (const ValueRef ref : m_steps.reads(step)) {
                const at::IValue* value = m_record.frame.tryGet(ref);
                if (!value || !m_steps.carries(ref) || !isDifferentiable(*value)
                    || !seen.insert(ref).second)
                    continue;
                const at::Tensor leaf = value->toTensor().detach().set_requires_grad(true);
                m_record.entries.emplace_back(ref, leaf);
                m_record.frame.set(ref, leaf);
            }
    }

    Result<void> runStep(std::size_t step)
    {
        const Node& node = m_steps.node(step);
        if (m_steps.isRecorded(step))
            QS_CHECK(runRecorded(step));
        else
            QS_CHECK(m_runNode(node, m_record.frame, {}));
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
            tap({node.id, i});
        return {};
    }

    std::vector<at::IValue> outputsOf(const Node& node) const
    {
        std::vector<at::IValue> outputs;
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
            if (const at::IValue* value = m_record.frame.tryGet({node.id, i}))
                outputs.push_back(*value);
        return outputs;
    }

    /// The values that the node reads and that autograd follows.
    std::set<ValueRef> asking(std::size_t step) const
    {
        std::set<ValueRef> refs;
        for (const ValueRef ref : m_steps.reads(step))
            if (const at::IValue* value = m_record.frame.tryGet(ref);
                value && asksForGradient(*value))
                refs.insert(ref);
        return refs;
    }

    Result<void> runRecorded(std::size_t step)
    {
        const Node& node = m_steps.node(step);
        std::set<ValueRef> followed = asking(step);
        const auto leaveOut = [&](const std::set<ValueRef>& refs) {
            for (const ValueRef ref : refs)
                followed.erase(ref);
        };
        if (const auto known = m_stops.unfollowed.find(node.id); known != m_stops.unfollowed.end())
            leaveOut(known->second);
        auto ran = runFollowing(step, followed);
        if (followed.empty() || (!ran && !mayBeMissing(ran.error())))
            return ran;
        if (!ran) {
            const std::set<ValueRef> failing = failingOf(step, followed);
            if (!runFollowing(step, {})) // also fails without autograd
                return ran;
            m_stops.unfollowed[node.id].insert(failing.begin(), failing.end());
            leaveOut(failing);
            QS_CHECK(runFollowing(step, followed));
        }
        if (lacksFormula(valuesOf(followed), outputsOf(node))) {
            m_stops.unfollowed[node.id].insert(followed.begin(), followed.end());
            return runFollowing(step, {});
        }
        if (!followed.empty())
            noteStop(node);
        return {};
    }

    std::vector<at::IValue> valuesOf(const std::set<ValueRef>& refs) const
    {
        std::vector<at::IValue> values;
        for (const ValueRef ref : refs)
            values.push_back(m_record.frame.get(ref));
        return values;
    }

    /// Whether a missing derivative may have caused the error.
    static bool mayBeMissing(const Error& error)
    {
        return error.code != ErrorCode::Cancelled && error.code != ErrorCode::Device;
    }

    /// The operands for each of which the node fails; all operands if it fails only for several.
    std::set<ValueRef> failingOf(std::size_t step, const std::set<ValueRef>& followed)
    {
        std::set<ValueRef> failing;
        for (const ValueRef ref : followed)
            if (!runFollowing(step, {ref}))
                failing.insert(ref);
        std::set<ValueRef> others = followed;
        for (const ValueRef ref : failing)
            others.erase(ref);
        return !failing.empty() && runFollowing(step, others) ? failing : followed;
    }

    /// Runs the node with autograd, which follows only these of the values that it reads.
    Result<void> runFollowing(std::size_t step, const std::set<ValueRef>& followed)
    {
        std::vector<std::pair<ValueRef, at::IValue>> before;
        for (const ValueRef ref : m_steps.reads(step)) {
            const at::IValue* value = m_record.frame.tryGet(ref);
            if (!value || !value->isTensor() || followed.contains(ref)
                || !value->toTensor().requires_grad())
                continue;
            before.emplace_back(ref, *value);
            m_record.frame.set(ref, before.back().second.toTensor().detach());
        }
        const GradientScope scope;
        auto ran = m_runNode(m_steps.node(step), m_record.frame, {});
        for (auto& [ref, value] : before)
            m_record.frame.set(ref, std::move(value));
        return ran;
    }

    void noteStop(const Node& node)
    {
        using Kind = GradientStops::Kind;
        const std::vector<at::IValue> outputs = outputsOf(node);
        if (std::any_of(outputs.begin(), outputs.end(), asksForGradient))
            return;
        const bool floats = std::any_of(outputs.begin(), outputs.end(), isDifferentiable)
            && !readsFormAlone(node);
        m_stops.seen[node.id] = floats ? Kind::NoDerivative : Kind::Integers;
    }

    /// Makes the value a separate tensor if it is a site. Call after its node ran.
    void tap(ValueRef ref)
    {
        const at::IValue* value = m_record.frame.tryGet(ref);
        if (!value || !value->isTensor())
            return;
        at::Tensor tensor = value->toTensor();
        const bool isSite = m_steps.isSite(ref);
        if (isSite && isDifferentiable(*value)) {
            const GradientScope scope;
            tensor = tensor.requires_grad() ? at::alias(tensor)
                                            : tensor.detach().set_requires_grad(true);
            m_record.frame.set(ref, tensor);
        }
        if (tensor.requires_grad())
            tensor.register_hook(
                [&job = m_job](const at::Tensor&) { TORCH_CHECK(!job.cancelled(), "cancelled"); });
        const std::size_t last = m_steps.lastRead(ref);
        if (isSite || m_steps.isOutput(ref)
            || (last != GradientSteps::kNever && last >= m_range.to))
            m_record.made.emplace_back(ref, tensor);
    }

    const RunNode& m_runNode;
    const GradientSteps& m_steps;
    StepRange m_range;
    GradientStops& m_stops;
    const JobContext& m_job;
    SegmentRecord m_record;
};

} // namespace

std::optional<KeptValues> keptValues(const Graph& graph, const GradientSteps& steps,
                                     const Frame& frame, std::size_t boundary)
{
    KeptValues kept;
    for (const ValueRef ref : steps.liveAt(boundary)) {
        const at::IValue& value = frame.get(ref);
        if (!isCuttable(graph.value(ref), value, steps.carries(ref)))
            return std::nullopt;
        kept.emplace_back(ref, value);
    }
    return kept;
}

bool isDifferentiable(const at::IValue& value)
{
    if (!value.isTensor() || !value.toTensor().defined())
        return false;
    return value.toTensor().is_floating_point() || value.toTensor().is_complex();
}

bool anyTensor(const at::IValue& value, const std::function<bool(const at::Tensor&)>& test)
{
    std::vector<at::IValue> leaves;
    flattenLeaves(value, leaves);
    return std::any_of(leaves.begin(), leaves.end(), [&](const at::IValue& leaf) {
        return leaf.isTensor() && leaf.toTensor().defined() && test(leaf.toTensor());
    });
}

RunNode runnerOf(const Interpreter& interpreter, const JobContext& job)
{
    return [&](const Node& node, Frame& frame, std::span<const ValueRef> expendable) {
        return interpreter.runNode(node, frame, expendable, job);
    };
}

Result<void> runPlainly(const RunNode& runNode, const GradientSteps& steps, StepRange range,
                        Frame& frame,
                        const std::function<void(ValueRef, const at::IValue&)>& output,
                        const JobContext& job)
{
    for (std::size_t step = range.from; step < range.to; ++step) {
        const Node& node = steps.node(step);
        QS_CHECK(checkGoesOn(job, node));
        QS_CHECK(runNode(node, frame, steps.deadAfter(step)));
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
            if (const ValueRef ref {node.id, i}; steps.isOutput(ref))
                output(ref, frame.get(ref));
        for (const ValueRef ref : steps.deadAfter(step))
            frame.release(ref);
    }
    return {};
}

Result<SegmentRecord> recordSegment(const RunNode& runNode, const GradientSteps& steps,
                                    StepRange range, Frame frame, GradientStops& stops,
                                    const JobContext& job)
{
    return SegmentRecorder(runNode, steps, range, stops, job).record(std::move(frame));
}

} // namespace qs
