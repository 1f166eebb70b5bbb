// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/form_departure.h"

#include "engine/compare/metrics/metrics.h"
#include "engine/compare/output_run.h"
#include "engine/execute/steps/count_steps.h"
#include "engine/graph/operators/quantized_target.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

std::optional<double> sqnrOf(const ErrorSums& sums)
{
    const auto metrics = metricsFrom(sums);
    return metrics ? metrics->sqnrDb : std::nullopt;
}

/// The run of one form on the batch, node by node.
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

    /// Runs the next node if it is an operator; calls `see` with the frame before values are freed.
    template<class See>
    Result<void> step(const JobContext& job, const See& see)
    {
        QS_CHECK(job.check());
        const Node& node = *graph().nodes()[m_position];
        if (!node.outputs.empty() && !m_interpreter.isConstant({node.id, 0})) {
            if (node.isOperator())
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
    DepartureRun(const ConvertedModel& converted, Side floating, Side reference, Side lowered)
        : m_float(std::move(floating))
        , m_reference(std::move(reference))
        , m_lowered(std::move(lowered))
    {
        for (const KernelCheck& check : converted.checks)
            if (check.lowered)
                m_wanted[check.lowered] = {check.reference, check.node};
        for (const NodePtr& node : m_reference.graph().nodes()) {
            const Node* same = m_lowered.graph().tryGet(node->id);
            if (node->isOp(kQuantizePerTensor) && same && same->isOp(kQuantizeTensor)
                && hasNumbers(*node))
                m_wanted[node->id] = {node->id, node->origin ? node->origin : node->id};
        }
        for (const auto& [lowered, pair] : m_wanted) {
            m_asked.insert(pair.reference);
            ++m_floatAsked[pair.node];
        }
    }

    Result<std::vector<FormDeparture>> run(const JobContext& job)
    {
        while (!m_lowered.isDone())
            QS_CHECK(m_lowered.step(job, [&](const Node& node, const Frame& frame) {
                return inspectValue(node, frame, job);
            }));
        std::sort(m_found.begin(), m_found.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<FormDeparture> out;
        std::unordered_map<NodeId, std::size_t> placeOf;
        for (const auto& [position, departure] : m_found) {
            const auto [place, isNew] = placeOf.try_emplace(departure.node, out.size());
            if (isNew)
                out.push_back(departure);
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
    /// The results of a node in one form.
    struct Made
    {
        std::vector<at::Tensor> values;
        bool isInteger = false;
        double scale = 1;
        std::int64_t zeroPoint = 0;

        at::Tensor floats(std::size_t index) const
        {
            const at::Tensor& value = values[index];
            return isInteger ? (value.to(at::kFloat) - double(zeroPoint)) * scale : value;
        }
    };
    using MadeByNode = std::unordered_map<NodeId, Made>;

    Result<void> inspectValue(const Node& node, const Frame& frame, const JobContext& job)
    {
        const auto wanted = m_wanted.find(node.id);
        if (wanted == m_wanted.end())
            return {};
        const Pair pair = wanted->second;
        QS_CHECK(runTo(m_reference, pair.reference, m_asked, m_made, job));
        QS_CHECK(runTo(m_float, pair.node, m_floatAsked, m_floats, job));
        const auto made = m_made.find(pair.reference);
        if (made == m_made.end())
            return {};
        const auto floats = m_floats.find(pair.node);
        FormDeparture found {pair.node, {}};
        ErrorSums referenceSums, loweredSums;
        for (std::uint32_t i = 0; i < node.outputs.size() && i < made->second.values.size(); ++i) {
            const at::IValue* value = frame.tryGet({node.id, i});
            if (!value || !value->isTensor())
                continue;
            found.steps.add(apart(value->toTensor(), made->second, i));
            if (floats != m_floats.end())
                QS_CHECK(addErrorsOf(floats->second, i, made->second, value->toTensor(),
                                     referenceSums, loweredSums));
        }
        found.referenceDb = sqnrOf(referenceSums);
        found.loweredDb = sqnrOf(loweredSums);
        if (found.steps.count > 0)
            m_found.emplace_back(m_reference.graph().position(pair.reference), found);
        m_made.erase(made);
        if (floats != m_floats.end() && --m_floatAsked[pair.node] == 0)
            m_floats.erase(floats);
        return {};
    }

    /// Whether the parameters are literals, not values that an edit inserted.
    static bool hasNumbers(const Node& quantize)
    {
        const Argument *scale = quantize.tryArg("scale"), *zero = quantize.tryArg("zero_point");
        return scale && scale->asDouble() && zero && zero->asInt();
    }

    /// Adds the errors of both forms against the float model, if its value has the same shape.
    static Result<void> addErrorsOf(const Made& floats, std::size_t index, const Made& reference,
                                    const at::Tensor& lowered, ErrorSums& referenceSums,
                                    ErrorSums& loweredSums)
    {
        const auto fits = [&](const at::Tensor& value) {
            return value.defined() && value.sizes() == lowered.sizes();
        };
        if (index >= floats.values.size() || !fits(floats.values[index])
            || !floats.values[index].is_floating_point() || !fits(reference.values[index])
            || !(lowered.is_quantized() || lowered.is_floating_point()))
            return {};
        const at::Tensor signal = floats.values[index].to(at::kFloat);
        QS_CHECK(addError(referenceSums, signal, reference.floats(index).to(at::kFloat)));
        return addError(loweredSums, signal,
                        (lowered.is_quantized() ? lowered.dequantize() : lowered).to(at::kFloat));
    }

    /// Runs a side until the node has run; keeps the requested values.
    template<class Asked>
    static Result<void> runTo(Side& side, NodeId until, const Asked& asked, MadeByNode& made,
                              const JobContext& job)
    {
        while (!made.contains(until) && !side.isDone())
            QS_CHECK(side.step(job, [&](const Node& node, const Frame& frame) -> Result<void> {
                if (asked.contains(node.id))
                    made[node.id] = madeBy(node, frame);
                return {};
            }));
        return {};
    }

    static Made madeBy(const Node& node, const Frame& frame)
    {
        Made made;
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
            const at::IValue* value = frame.tryGet({node.id, i});
            made.values.push_back(value && value->isTensor() ? value->toTensor() : at::Tensor());
        }
        if (node.isOp(kQuantizePerTensor) && hasNumbers(node)) {
            made.isInteger = true;
            made.scale = *node.tryArg("scale")->asDouble();
            made.zeroPoint = *node.tryArg("zero_point")->asInt();
        }
        return made;
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

    Side m_float, m_reference, m_lowered;
    std::unordered_map<NodeId, Pair> m_wanted; ///< by the lowered form's node
    std::unordered_set<NodeId> m_asked; ///< requested nodes of the reference form
    std::unordered_map<NodeId, std::size_t> m_floatAsked; ///< of the float model: remaining uses
    MadeByNode m_made, m_floats; ///< of the reference form and the float model, not compared yet
    std::vector<std::pair<std::size_t, FormDeparture>> m_found;
};

} // namespace

Result<std::vector<FormDeparture>> departures(const ConvertedModel& converted, const Batch& batch,
                                              const JobContext& job)
{
    QS_TRY(Side floating, Side::create(converted.prepared->model, batch));
    QS_CHECK(job.check());
    QS_TRY(Side reference, Side::create(converted.reference, batch));
    QS_CHECK(job.check());
    QS_TRY(Side lowered, Side::create(converted.lowered, batch));
    return DepartureRun(converted, std::move(floating), std::move(reference), std::move(lowered))
        .run(job);
}

} // namespace qs
