// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/form_departure.h"

#include "engine/compare/output_run.h"
#include "engine/execute/steps/count_steps.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

constexpr std::string_view kQuantize = "quantized_decomposed.quantize_per_tensor.default";

/// One form on its way through the batch.
class Side
{
public:
    static Result<Side> create(const GraphPtr& form, const Batch& batch)
    {
        QS_TRY(Interpreter interpreter, Interpreter::create(form));
        QS_TRY(Frame frame, startFrame(interpreter, batch.inputs, {}));
        return Side(std::move(interpreter), std::move(frame));
    }

    bool isDone() const { return m_position == graph().nodes().size(); }
    const Graph& graph() const { return m_interpreter.graph(); }

    /// Runs the next node and returns it; `see` looks at the frame before values are freed.
    template<class See>
    Result<void> step(const JobContext& job, const See& see)
    {
        QS_CHECK(job.check());
        const Node& node = *graph().nodes()[m_position];
        if (node.isOperator() && !node.outputs.empty() && !m_interpreter.isConstant({node.id, 0})) {
            QS_CHECK(m_interpreter.runNode(node, m_frame));
            QS_CHECK(see(node, m_frame));
        }
        for (const ValueRef ref : m_interpreter.deadAfter(m_position))
            m_frame.release(ref);
        ++m_position;
        return {};
    }

private:
    Side(Interpreter interpreter, Frame frame)
        : m_interpreter(std::move(interpreter))
        , m_frame(std::move(frame))
    {
    }

    Interpreter m_interpreter;
    Frame m_frame;
    std::size_t m_position = 0;
};

class DepartureRun
{
public:
    DepartureRun(const ConvertedModel& converted, Side reference, Side lowered)
        : m_reference(std::move(reference))
        , m_lowered(std::move(lowered))
    {
        for (const KernelCheck& check : converted.checks)
            if (check.lowered)
                m_wanted[check.lowered] = {check.reference, check.node};
        for (const NodePtr& node : m_reference.graph().nodes()) {
            const Node* same = m_lowered.graph().tryGet(node->id);
            if (node->isOp(kQuantize) && same && same->isOp("aten.quantize_per_tensor.default"))
                m_wanted[node->id] = {node->id, node->origin ? node->origin : node->id};
        }
        for (const auto& [lowered, pair] : m_wanted)
            m_asked.insert(pair.reference);
    }

    Result<std::vector<FormDeparture>> run(const JobContext& job)
    {
        while (!m_lowered.isDone())
            QS_CHECK(m_lowered.step(job, [&](const Node& node, const Frame& frame) {
                return lookAt(node, frame, job);
            }));
        std::sort(m_found.begin(), m_found.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<FormDeparture> out;
        std::unordered_map<NodeId, std::size_t> placeOf;
        for (auto& [position, departure] : m_found) {
            const auto [place, isNew] = placeOf.try_emplace(departure.node, out.size());
            if (isNew)
                out.push_back(std::move(departure));
            else // quantized twice, for two readers
                out[place->second].steps.add(departure.steps);
        }
        return out;
    }

private:
    struct Pair
    {
        NodeId reference, node;
    };
    /// What the reference form made at a node.
    struct Made
    {
        std::vector<at::Tensor> values;
        bool isInteger = false;
        double scale = 1;
        std::int64_t zeroPoint = 0;
    };

    Result<void> lookAt(const Node& node, const Frame& frame, const JobContext& job)
    {
        const auto wanted = m_wanted.find(node.id);
        if (wanted == m_wanted.end())
            return {};
        const NodeId reference = wanted->second.reference;
        while (!m_made.contains(reference) && !m_reference.isDone())
            QS_CHECK(m_reference.step(
                job, [this](const Node& made, const Frame& values) { return keep(made, values); }));
        const auto made = m_made.find(reference);
        if (made == m_made.end())
            return {};
        StepCounts steps;
        for (std::uint32_t i = 0; i < node.outputs.size() && i < made->second.values.size(); ++i)
            if (const at::IValue* value = frame.tryGet({node.id, i}); value && value->isTensor())
                steps.add(apart(value->toTensor(), made->second, i));
        if (steps.count > 0)
            m_found.emplace_back(m_reference.graph().position(reference),
                                 FormDeparture {wanted->second.node, std::move(steps)});
        m_made.erase(made);
        return {};
    }

    Result<void> keep(const Node& node, const Frame& frame)
    {
        if (!m_asked.contains(node.id))
            return {};
        Made made;
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
            const at::IValue* value = frame.tryGet({node.id, i});
            made.values.push_back(value && value->isTensor() ? value->toTensor() : at::Tensor());
        }
        if (node.isOp(kQuantize)) {
            made.isInteger = true;
            made.scale = *node.tryArg("scale")->asDouble();
            made.zeroPoint = *node.tryArg("zero_point")->asInt();
        }
        m_made[node.id] = std::move(made);
        return {};
    }

    static StepCounts apart(const at::Tensor& lowered, const Made& made, std::uint32_t index)
    {
        const at::Tensor& reference = made.values[index];
        if (!reference.defined() || reference.sizes() != lowered.sizes() || lowered.numel() == 0)
            return {};
        if (made.isInteger)
            return countSteps(lowered, {reference, made.scale, made.zeroPoint});
        const bool real = reference.is_floating_point()
            && (lowered.is_floating_point() || lowered.is_quantized());
        return real ? countFloatSteps(lowered, reference) : StepCounts();
    }

    Side m_reference, m_lowered;
    std::unordered_map<NodeId, Pair> m_wanted; ///< by the lowered form's node
    std::unordered_set<NodeId> m_asked; ///< of the reference form
    std::unordered_map<NodeId, Made> m_made; ///< and not compared yet
    std::vector<std::pair<std::size_t, FormDeparture>> m_found;
};

} // namespace

Result<std::vector<FormDeparture>> departures(const ConvertedModel& converted, const Batch& batch,
                                              const JobContext& job)
{
    QS_TRY(Side reference, Side::create(converted.reference, batch));
    QS_TRY(Side lowered, Side::create(converted.lowered, batch));
    return DepartureRun(converted, std::move(reference), std::move(lowered)).run(job);
}

} // namespace qs
