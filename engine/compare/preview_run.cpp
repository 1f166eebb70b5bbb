// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/preview_run.h"

#include "engine/base/torch_guard.h"
#include "engine/compare/compare_unit.h"
#include "engine/compare/metrics/metrics.h"
#include "engine/compare/output_run.h"
#include "engine/compare/sweep/repeatable.h"
#include "engine/convert/form_parts.h"
#include "engine/graph/output_names.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace qs {

namespace {

/// One value that is measured: of a unit, or an output of the model.
struct Measure
{
    ValueRef signal; ///< y: in the float graph
    ValueRef converted; ///< y^: in the reference graph
    std::size_t sums = 0; ///< which it adds to
    bool isKnown = false; ///< its sums were kept
};

/// Where a tensor's elements are stored; null for other values.
const c10::StorageImpl* storageOf(const at::IValue& value)
{
    return value.isTensor() ? value.toTensor().storage().unsafeGetStorageImpl() : nullptr;
}

/// `isView`: another kept value has the same storage, which takes its memory once.
void keepValue(Memo& values, const Key& key, const at::IValue& value, bool isView = false)
{
    const c10::StorageImpl* storage = storageOf(value);
    const std::size_t bytes = storage && !isView ? storage->nbytes() : 0;
    values.keep<at::IValue>(key, std::make_shared<const at::IValue>(value),
                            bytes + sizeof(at::IValue) + key.size());
}

/// The forms' keys, where work is kept.
struct PreviewKeys
{
    explicit PreviewKeys(const ConvertedModel& converted)
        : floatForm(*converted.prepared->model, *converted.prepared)
        , reference(*converted.reference, *converted.prepared)
    {
    }
    ValueKeys floatForm, reference;
};
using PreviewKeysPtr = std::shared_ptr<const PreviewKeys>;

/// Weights that earlier previews folded and quantized are used again.
SharedConstants keptWeights(Memo& values, const PreviewKeysPtr& keys, Layout layout)
{
    const auto keyOf = [keys, layout](ValueRef ref) {
        return KeyBuilder("preview constant")
            .add(std::int64_t(layout))
            .add(keys->reference.of(ref))
            .key();
    };
    return {
        [&values, keyOf](ValueRef ref) { return values.find<at::IValue>(keyOf(ref)); },
        [&values, keyOf](ValueRef ref, const at::IValue& v) { keepValue(values, keyOf(ref), v); }};
}

class PreviewRun
{
public:
    PreviewRun(const ConvertedModel& converted, Interpreter floatForm, Interpreter reference)
        : m_units(compareUnits(converted))
        , m_floatForm(std::move(floatForm))
        , m_reference(std::move(reference))
    {
        for (const CompareUnit& unit : m_units) {
            for (const UnitOutput& output : unit.outputs)
                addMeasure(output.value, output.reference);
            ++m_sumsCount;
        }
        const auto wanted = outputArguments(m_floatForm.graph());
        const auto made = inModelOrder(outputArguments(m_reference.graph()),
                                       converted.referenceEdits, wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const ValueRef* y = wanted[i]->asRef();
            const ValueRef* other = i < made.size() && made[i] ? made[i]->asRef() : nullptr;
            if (y && other)
                addMeasure(*y, *other);
            ++m_sumsCount;
        }
        m_sums.resize(m_sumsCount);
        m_unmeasured.resize(m_sumsCount);
    }

    /// Before `run`.
    void continueFrom(const Continuation& from, PreviewKeysPtr keys)
    {
        m_from = &from;
        m_keys = std::move(keys);
        const Graph& reference = m_reference.graph();
        const auto nodes = reference.nodes();
        std::size_t limit = nodes.size();
        for (Measure& measure : m_measures) {
            const auto kept = from.work.sums.find<CachedUnit>(sumsKey(measure));
            measure.isKnown = kept != nullptr;
            if (kept)
                take(measure.sums, *kept);
            else
                limit = std::min(limit, reference.position(measure.converted.node));
        }
        const CutSide side = nodeByNode(m_reference, m_keys->reference);
        m_cuts.emplace(from, "preview", from.work.values.budget() / 4, std::span(&side, 1));
        m_first = m_cuts->resume(limit);
        if (limit == nodes.size())
            m_first = limit; // nothing to run
    }

    Result<void> run(const Batch& batch, const JobContext& job)
    {
        std::vector<at::IValue> inputs;
        for (const at::IValue& input : batch.inputs) {
            const at::IValue there
                = input.isTensor() ? at::IValue(input.toTensor().to(m_floatForm.device())) : input;
            inputs.push_back(inLayout(there, m_floatForm.layout()));
        }
        if (std::all_of(m_measures.begin(), m_measures.end(),
                        [](const Measure& measure) { return measure.isKnown; }))
            return {};
        QS_CHECK(takeSignals(inputs, job));
        QS_CHECK(runReference(inputs, job));
        keepSums();
        return {};
    }

    Preview result(const ConvertedModel& converted) const
    {
        Preview preview;
        for (std::size_t i = 0; i < m_units.size(); ++i)
            if (const auto metrics = metricsFrom(m_sums[i].cumulative))
                preview.nodes.push_back({m_units[i].last, {}, {}, {}, metrics});
        const auto names = outputNames(*converted.prepared->model);
        for (std::size_t i = m_units.size(); i < m_sums.size(); ++i)
            preview.outputs.push_back(
                {names.at(i - m_units.size()), metricsFrom(m_sums[i].cumulative), {}});
        return preview;
    }

private:
    void addMeasure(ValueRef signal, ValueRef converted)
    {
        // A stored value is the same in both, or of no interest.
        if (!m_floatForm.isConstant(signal) && !m_reference.isConstant(converted))
            m_measures.push_back({signal, converted, m_sumsCount});
    }

    Key signalKey(ValueRef signal) const
    {
        return KeyBuilder("preview signal")
            .add(m_from->run)
            .add(std::int64_t(m_floatForm.layout()))
            .add(m_keys->floatForm.of(signal))
            .key();
    }

    Key sumsKey(const Measure& measure) const
    {
        return KeyBuilder("preview sums")
            .add(signalKey(measure.signal))
            .add(m_keys->reference.of(measure.converted))
            .key();
    }

    /// Sums of values that belong to one unit, added up.
    void take(std::size_t index, const CachedUnit& kept)
    {
        kernels::merge(m_sums[index].cumulative, kept.sums.cumulative);
        m_unmeasured[index] = m_unmeasured[index] || kept.isUnmeasured;
    }

    /// The float model's values: all kept ones, whose use keeps them, and from them those that
    /// this run measures.
    Result<void> takeSignals(const std::vector<at::IValue>& inputs, const JobContext& job)
    {
        QS_TRY(Frame frame, startFrame(m_floatForm, inputs, {}));
        std::vector<ValueRef> missing;
        std::unordered_set<ValueRef> asked;
        std::unordered_set<const c10::StorageImpl*> storages;
        for (const Measure& measure : m_measures) {
            if (frame.has(measure.signal))
                continue;
            if (const auto kept = m_from
                    ? m_from->work.values.find<at::IValue>(signalKey(measure.signal))
                    : nullptr) {
                frame.set(measure.signal, *kept);
                storages.insert(storageOf(*kept));
            } else if (!measure.isKnown && asked.insert(measure.signal).second) {
                missing.push_back(measure.signal);
            }
        }
        if (!missing.empty())
            QS_CHECK(m_floatForm.evaluate(frame, missing, job));
        for (std::size_t i = 0; m_from && i < missing.size(); ++i) {
            const at::IValue& value = frame.get(missing[i]);
            keepValue(m_from->work.values, signalKey(missing[i]), value,
                      !storages.insert(storageOf(value)).second);
        }
        m_signals = std::move(frame);
        return {};
    }

    Result<void> runReference(const std::vector<at::IValue>& inputs, const JobContext& job)
    {
        std::unordered_map<NodeId, std::vector<std::size_t>> measuredAt;
        for (std::size_t i = 0; i < m_measures.size(); ++i)
            if (!m_measures[i].isKnown)
                measuredAt[m_measures[i].converted.node].push_back(i);
        QS_TRY(Frame frame, startFrame(m_reference, inputs, {}));
        Frame* const frames[] = {&frame};
        if (m_cuts)
            m_cuts->restore(frames);
        const auto nodes = m_reference.graph().nodes();
        for (std::size_t position = m_first; position < nodes.size(); ++position) {
            QS_CHECK(job.check());
            const Node& node = *nodes[position];
            const auto dead = m_reference.deadAfter(position);
            const auto found = measuredAt.find(node.id);
            const bool isMeasured = found != measuredAt.end();
            if (node.isOperator() && !m_reference.isConstant({node.id, 0}))
                QS_CHECK(m_reference.runNode(node, frame, dead, job));
            for (std::size_t i = 0; isMeasured && i < found->second.size(); ++i)
                QS_CHECK(measure(m_measures[found->second[i]], frame));
            for (const ValueRef ref : dead)
                frame.release(ref);
            if (m_cuts)
                m_cuts->reached(position, frames);
        }
        if (m_cuts)
            m_cuts->endBatch();
        return {};
    }

    Result<void> measure(const Measure& measure, const Frame& frame)
    {
        const at::IValue* made = frame.tryGet(measure.converted);
        const at::IValue* wanted = m_signals.tryGet(measure.signal);
        if (!made || !made->isTensor() || !wanted || !wanted->isTensor())
            return {};
        const at::Tensor y = wanted->toTensor(), other = made->toTensor();
        CachedUnit unit;
        unit.isUnmeasured = !y.is_floating_point() || y.sizes() != other.sizes();
        if (!unit.isUnmeasured)
            QS_CHECK(addError(unit.sums.cumulative, y, other));
        take(measure.sums, unit);
        if (m_from)
            m_fresh.emplace_back(sumsKey(measure), std::make_shared<const CachedUnit>(unit));
        return {};
    }

    void keepSums()
    {
        for (std::size_t i = 0; i < m_sums.size(); ++i)
            if (m_unmeasured[i])
                m_sums[i] = {};
        for (const auto& [key, unit] : m_fresh)
            m_from->work.sums.keep<CachedUnit>(key, unit, sizeof(CachedUnit) + key.size());
    }

    std::vector<CompareUnit> m_units;
    Interpreter m_floatForm, m_reference;
    std::vector<Measure> m_measures;
    std::vector<UnitSums> m_sums; ///< of the units, then of the outputs
    std::vector<bool> m_unmeasured; ///< its shape follows from values and differs
    std::size_t m_sumsCount = 0;
    Frame m_signals; ///< y of every measure
    const Continuation* m_from = nullptr; ///< null: nothing is kept
    PreviewKeysPtr m_keys; ///< null likewise
    std::optional<Cuts> m_cuts;
    std::size_t m_first = 0;
    std::vector<std::pair<Key, std::shared_ptr<const CachedUnit>>> m_fresh;
};

} // namespace

Result<Preview> previewErrors(const ConvertedModel& converted, const Batch& batch,
                              const std::string& device, const JobContext& job,
                              const Continuation* from)
{
    const InferenceScope inference;
    return guardTorchValue<Preview>([&]() -> Result<Preview> {
        const GraphPtr& model = converted.prepared->model;
        InterpreterOptions options {.device = at::Device(device)};
        options.layout = fastLayout(*model, *converted.reference, options.device);
        QS_TRY(Interpreter floatForm, Interpreter::create(model, options, job));
        PreviewKeysPtr keys;
        if (from && options.device.is_cpu() && isRepeatable(*model)
            && isRepeatable(*converted.reference)) {
            keys = std::make_shared<const PreviewKeys>(converted);
            options.constants = keptWeights(from->work.values, keys, options.layout);
        }
        QS_TRY(Interpreter reference,
               Interpreter::create(converted.reference, std::move(options), job));
        PreviewRun run(converted, std::move(floatForm), std::move(reference));
        if (keys)
            run.continueFrom(*from, keys);
        QS_CHECK(run.run(batch, job));
        Preview preview = run.result(converted);
        preview.samples = batch.samples;
        return preview;
    });
}

namespace {

/// True if the reader makes one value of this one, of the same shape and without a weight: it may
/// be fused with the producer, and then this value does not exist.
bool mayFuse(const Graph& graph, const Node& reader, const ValueType& made)
{
    int activations = 0;
    bool hasWeight = false;
    for (const NamedArgument& argument : reader.args)
        forEachRef(argument.value, [&](ValueRef ref) {
            const bool isStored = graph.get(ref.node).isStored();
            activations += isStored ? 0 : 1;
            hasWeight = hasWeight || (isStored && graph.value(ref).type.shape.size() > 1);
        });
    return activations == 1 && !hasWeight && reader.outputs.size() == 1
        && reader.outputs[0].type.shape == made.shape;
}

} // namespace

std::int64_t previewSamples(const Graph& model, std::size_t bytes, std::int64_t most)
{
    double perSample = 0;
    for (const NodePtr& node : model.nodes()) {
        if (!node->isOperator() || node->outputs.empty())
            continue;
        const ValueType& made = node->outputs[0].type;
        const auto users = model.users({node->id, 0});
        if (users.size() == 1 && mayFuse(model, model.get(users[0].node), made))
            continue;
        double size = sizeof(float);
        for (std::size_t i = 1; i < made.shape.size(); ++i) // the first counts the samples
            size *= double(std::max<std::int64_t>(1, made.shape[i].size));
        perSample += size;
    }
    const auto fitting = std::int64_t(double(bytes) / std::max(perSample, 1.0));
    return std::clamp<std::int64_t>(fitting, 1, std::max<std::int64_t>(1, most));
}

} // namespace qs
