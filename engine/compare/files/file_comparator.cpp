// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/files/file_comparator.h"

#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/calibrate/data/batch_reader.h"
#include "engine/calibrate/data/call_inputs.h"
#include "engine/compare/metrics/metrics.h"
#include "engine/compare/metrics/sample_sums.h"
#include "engine/execute/interpreter.h"

#include <ATen/ATen.h>

#include <map>
#include <unordered_set>

namespace qs {

namespace {

/// One call of a model, run node by node. Requested values are kept until `done`.
class Walk
{
public:
    Walk(const Interpreter& interpreter, std::unordered_set<ValueRef> wanted)
        : m_interpreter(interpreter)
        , m_wanted(std::move(wanted))
    {
    }

    Result<void> start(const std::vector<at::IValue>& inputs)
    {
        m_frame.clear();
        m_expired.clear();
        m_kept = m_wanted;
        m_next = 0;
        QS_CHECK(m_interpreter.startState(m_frame, {}));
        std::size_t given = 0;
        for (const Node* input : m_interpreter.graph().inputs())
            m_frame.set({input->id, 0}, inputs.at(given++));
        return {};
    }

    /// Runs up to the producer of `ref` and returns its value; requested values are kept.
    Result<at::IValue> upTo(ValueRef ref, const JobContext& job)
    {
        QS_CHECK(job.check()); // measuring a value takes as long as computing it
        const auto nodes = m_interpreter.graph().nodes();
        const std::size_t last = m_interpreter.graph().position(ref.node);
        for (; m_next <= last; ++m_next) {
            QS_CHECK(job.check());
            const Node& node = *nodes[m_next];
            const bool runs = node.isOperator();
            if (runs && !m_interpreter.isConstant({node.id, 0}))
                if (auto ran = m_interpreter.runNode(node, m_frame); !ran)
                    return fail(std::move(ran).error().inFile(m_interpreter.graph().info().path));
            for (const ValueRef& dead : m_interpreter.deadAfter(m_next))
                if (m_kept.contains(dead))
                    m_expired.insert(dead);
                else
                    m_frame.release(dead);
        }
        if (const at::IValue* value = m_frame.tryGet(ref))
            return *value;
        return m_interpreter.constant(ref);
    }

    /// Releases a value that is not needed again in this call.
    void done(ValueRef ref)
    {
        m_kept.erase(ref);
        if (m_expired.erase(ref))
            m_frame.release(ref);
    }

private:
    const Interpreter& m_interpreter;
    std::unordered_set<ValueRef> m_wanted, m_kept;
    std::unordered_set<ValueRef> m_expired; ///< kept after their last reader in the model
    Frame m_frame;
    std::size_t m_next = 0;
};

std::optional<at::Tensor> plainTensor(const at::IValue& value)
{
    if (!value.isTensor() || !value.toTensor().defined())
        return std::nullopt;
    const at::Tensor tensor
        = value.toTensor().is_quantized() ? value.toTensor().dequantize() : value.toTensor();
    return tensor.is_floating_point() ? std::optional(tensor) : std::nullopt;
}

Result<void> add(std::optional<ErrorSums>& sums, const at::IValue& signal, const at::IValue& other)
{
    const auto a = plainTensor(signal), b = plainTensor(other);
    if (!a || !b || a->sizes() != b->sizes())
        return {};
    if (!sums)
        sums.emplace();
    return addError(*sums, a->to(at::kFloat), b->to(at::kFloat));
}

std::vector<ValueRef> outputsOf(const Graph& graph)
{
    std::vector<ValueRef> refs;
    for (const NamedArgument& argument : graph.output().args)
        forEachRef(argument.value, [&](ValueRef ref) { refs.push_back(ref); });
    return refs;
}

} // namespace

Result<FileComparison> compareFiles(const GraphPtr& floating, const GraphPtr& converted,
                                    const Dataset& data, const JobContext& job)
{
    const InferenceScope scope;
    QS_TRY(const CallInputs structure, CallInputs::create(*floating));
    FileComparison out;
    QS_TRY(out.match, matchModels(*floating, *converted, job));
    QS_TRY(const Interpreter floatRunner, Interpreter::create(floating, {}, job));
    QS_TRY(const Interpreter convertedRunner, Interpreter::create(converted, {}, job));
    std::unordered_set<ValueRef> wantedFloat, wantedConverted;
    std::map<ValueRef, int> waiting; // a value may match several
    for (const ValueMatch& match : out.match.values) {
        wantedFloat.insert(match.floating);
        wantedConverted.insert(match.converted);
        ++waiting[match.converted];
    }
    Walk floatWalk(floatRunner, wantedFloat), convertedWalk(convertedRunner, wantedConverted);
    std::vector<std::optional<ErrorSums>> sums(out.match.values.size());
    const auto floatOutputs = outputsOf(*floating), convertedOutputs = outputsOf(*converted);
    const std::size_t outputs = std::min(floatOutputs.size(), convertedOutputs.size());
    std::vector<std::optional<ErrorSums>> outputSums(outputs);
    std::vector<ClassScores> known;
    for (const ValueRef output : floatOutputs)
        known.push_back(classScores(*floating, output));
    Top1 top1(std::move(known));
    SampleSums sampleSums;
    BatchReader reader(data, job);
    for (std::int64_t i = 0; i < reader.count(); ++i) {
        QS_TRY(const Batch batch, reader.next());
        for (const auto& notFinite :
             batch.notFinite) // without a plan, no value is known to stay float
            if (notFinite)
                return fail(*notFinite);
        job.report("compare", "batch " + std::to_string(i + 1), double(i) / double(reader.count()));
        QS_CHECK(floatWalk.start(batch.inputs));
        QS_TRY(const auto convertedInputs, structure.inputsOf(*converted, batch.inputs));
        QS_CHECK(convertedWalk.start(convertedInputs));
        auto left = waiting;
        for (std::size_t k = 0; k < sums.size(); ++k) {
            const ValueMatch& match = out.match.values[k];
            QS_TRY(const at::IValue signal, floatWalk.upTo(match.floating, job));
            QS_TRY(const at::IValue other, convertedWalk.upTo(match.converted, job));
            QS_CHECK(add(sums[k], signal, other));
            floatWalk.done(match.floating);
            if (--left[match.converted] == 0)
                convertedWalk.done(match.converted);
        }
        std::vector<at::Tensor> floatScores(outputs), convertedScores(outputs);
        for (std::size_t k = 0; k < outputs; ++k) {
            QS_TRY(const at::IValue signal, floatWalk.upTo(floatOutputs[k], job));
            QS_TRY(const at::IValue other, convertedWalk.upTo(convertedOutputs[k], job));
            QS_CHECK(add(outputSums[k], signal, other));
            floatScores[k] = plainTensor(signal).value_or(at::Tensor());
            convertedScores[k] = plainTensor(other).value_or(at::Tensor());
        }
        std::vector<ValuePair> measured(outputs);
        for (std::size_t k = 0; k < outputs; ++k)
            if (floatScores[k].defined() && convertedScores[k].defined()
                && floatScores[k].sizes() == convertedScores[k].sizes())
                measured[k] = {floatScores[k], convertedScores[k]};
        QS_CHECK(
            sampleSums.add(measured, batch.samples, top1.add(floatScores, convertedScores, batch)));
        out.samples += batch.samples;
    }
    for (const auto& sum : sums)
        out.errors.push_back(sum ? metricsFrom(*sum) : std::nullopt);
    for (std::size_t k = 0; k < outputs; ++k)
        out.outputs.push_back({floating->value(floatOutputs[k]).name,
                               outputSums[k] ? metricsFrom(*outputSums[k]) : std::nullopt,
                               std::nullopt});
    std::vector<std::string> names;
    for (const OutputError& output : out.outputs)
        names.push_back(output.name);
    out.agreement = top1.agreement(names);
    WholeErrors whole;
    whole.outputs = out.outputs;
    whole.agreement = out.agreement;
    out.sampleErrors = sampleSums.result(whole);
    return out;
}

} // namespace qs
