// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/comparator.h"

#include "engine/base/log.h"
#include "engine/base/memory/freed_memory.h"
#include "engine/base/text.h"
#include "engine/calibrate/data/batch_reader.h"
#include "engine/calibrate/non_finite.h"
#include "engine/compare/form_departure.h"
#include "engine/compare/output_run.h"
#include "engine/compare/output_totals.h"
#include "engine/compare/sweep/repeatable.h"
#include "engine/compare/sweep/sweep.h"
#include "engine/convert/form_parts.h"
#include "engine/convert/lowering/engine_run.h"
#include "engine/convert/whole_form.h"
#include "engine/graph/output_names.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

at::IValue onDevice(const at::IValue& value, at::Device device)
{
    return value.isTensor() ? at::IValue(value.toTensor().to(device)) : value;
}

/// The whole comparison of one converted model.
class Comparer
{
public:
    /// `edited`: the sweep is against its file; null: against the converted model.
    Comparer(const ConvertedModel& converted, at::Device device, Sweep sweep, OutputRun lowered,
             const EditedModel* edited)
        : m_converted(converted)
        , m_edited(edited)
        , m_device(device)
        , m_sweep(std::move(sweep))
        , m_lowered(std::move(lowered))
        , m_totals(converted)
    {
    }

    Result<void> addBatch(const Batch& batch, const JobContext& job)
    {
        QS_CHECK(checkObservedInputs(*m_converted.prepared->graph, batch));
        std::vector<at::IValue> inputs;
        for (const at::IValue& input : batch.inputs)
            inputs.push_back(onDevice(input, m_device));
        QS_TRY(Sweep::Outputs outputs, m_sweep.run(inputs, batch.samples, job));
        outputs.floatForm = paired(std::move(outputs.floatForm));
        // In this order: packing a weight takes more beside it than what stays of it.
        QS_TRY(auto lowered, m_lowered.run(batch, job));
        lowered
            = inModelOrder(std::move(lowered), m_converted.loweredEdits, m_totals.names().size());
        outputs.referenceForm = inModelOrder(std::move(outputs.referenceForm),
                                             m_converted.referenceEdits, m_totals.names().size());
        const std::size_t slot = m_sweep.units().size();
        if (m_relay) {
            QS_TRY(const auto before, m_relay->take(slot, job));
            if (before)
                QS_CHECK(m_totals.restore(*before));
        }
        QS_CHECK(m_totals.add(outputs, lowered, batch, m_sweep.hasUnmeasured()));
        warnOfNonFinite();
        if (!m_relay)
            return {};
        QS_CHECK(m_relay->pass(slot, m_totals.packed()));
        return m_relay->end();
    }

    /// Sums are taken over from the batch before and passed on.
    void relayBy(Relay& relay)
    {
        m_relay = &relay;
        m_sweep.relayBy(relay);
    }

    /// Takes the sums of all ranks.
    Result<void> adopt(const Relay::States& states)
    {
        QS_CHECK(m_sweep.adopt(states));
        if (const auto totals = states.find(m_sweep.units().size()); totals != states.end())
            QS_CHECK(m_totals.restore(totals->second));
        warnOfNonFinite();
        return {};
    }

    /// Each side keeps a separate state from batch to batch.
    void followSequence()
    {
        m_sweep.followSequence();
        m_lowered.followSequence();
    }

    void keepSums(const Continuation& from) const { m_sweep.keepSums(from); }

    void warnOfUnknownLabels() const { m_totals.warnOfUnknownLabels(); }

    Comparison result() const
    {
        Comparison comparison;
        for (std::size_t i = 0; i < m_sweep.units().size(); ++i) {
            const NodeError error = m_sweep.errorOf(i);
            if (error.cumulative)
                comparison.nodes.push_back(error);
        }
        comparison.againstOriginal = m_edited != nullptr;
        if (m_edited)
            comparison.unpaired = unpaired();
        for (const auto& edits : {m_converted.referenceEdits, m_converted.loweredEdits})
            for (std::string& line : unpairedOutputs(*m_converted.prepared->model, edits))
                comparison.unpaired.push_back(std::move(line));
        comparison.interiors = m_sweep.interiors();
        m_totals.addTo(comparison);
        comparison.floatTimes = m_sweep.floatTimes();
        comparison.loweredTimes = m_lowered.times();
        comparison.threads = at::get_num_threads();
        return comparison;
    }

private:
    /// The original model's outputs at the places of the edited one's; undefined where it has none.
    std::vector<at::Tensor> paired(std::vector<at::Tensor> outputs) const
    {
        if (!m_edited)
            return outputs;
        std::vector<at::Tensor> out;
        for (const int place : m_edited->outputPlaces)
            out.push_back(place < 0 ? at::Tensor() : outputs.at(std::size_t(place)));
        return out;
    }

    std::vector<std::string> unpaired() const
    {
        std::vector<std::string> lines;
        const auto& places = m_edited->outputPlaces;
        for (std::size_t i = 0; i < places.size(); ++i)
            if (places[i] < 0)
                lines.push_back("output '" + m_totals.names().at(i)
                                + "' is not measured: the original model does not return it");
        const auto names = outputNames(*m_edited->file);
        for (std::size_t place = 0; place < names.size(); ++place)
            if (std::find(places.begin(), places.end(), int(place)) == places.end())
                lines.push_back("output '" + names[place]
                                + "' of the original model is not measured: the edited one does "
                                  "not return it");
        return lines;
    }

    /// Says, once, where the two models first differ in a NaN or an Inf.
    void warnOfNonFinite()
    {
        if (m_saidNonFinite)
            return;
        const auto odd = m_sweep.firstOdd();
        if (!odd)
            return;
        m_saidNonFinite = true;
        const NodeId node = m_sweep.units()[odd->unit].last;
        const std::string batch = ", first in batch " + std::to_string(odd->batch);
        warn("node '" + m_converted.prepared->model->get(node).name + "': NaN or Inf in the "
             + (odd->isOfConverted
                    ? "converted model" + batch + ", where the float model has numbers"
                    : "float model" + batch + ", where the converted model has numbers")
             + "; keep it, or what it reads, float");
    }

    bool m_saidNonFinite = false;
    const ConvertedModel& m_converted;
    const EditedModel* const m_edited;
    at::Device m_device;
    Sweep m_sweep;
    OutputRun m_lowered;
    OutputTotals m_totals;
    Relay* m_relay = nullptr; ///< null in a single process
};

/// Kept work is found by what computes a value, in each of the three forms; in the lowered form the
/// engine computes as well, each in its own way.
struct FormKeys
{
    FormKeys(const Graph& floatGraph, const ConvertedModel& converted)
        : floatForm(floatGraph, *converted.prepared)
        , reference(*converted.reference, *converted.prepared)
        , lowered(*converted.lowered, *converted.prepared)
        , loweredForm("lowered for " + converted.engine)
    {
    }
    ValueKeys floatForm, reference, lowered;
    std::string loweredForm;
};

/// The times that are new stay; of nodes that did not run it is those of an earlier comparison.
std::vector<NodeTime> withKeptTimes(const std::vector<NodeTime>& times, const Graph& graph,
                                    const ValueKeys& keys, const std::string& form,
                                    const Continuation& from)
{
    std::unordered_map<NodeId, double> fresh;
    for (const NodeTime& time : times)
        fresh[time.node] = time.seconds;
    std::vector<NodeTime> all;
    for (const NodePtr& node : graph.nodes()) {
        if (!node->isOperator())
            continue;
        const Key key
            = KeyBuilder("time").add(from.run).add(form).add(keys.of({node->id, 0})).key();
        if (const auto it = fresh.find(node->id); it != fresh.end()) {
            from.work.sums.keep<double>(key, std::make_shared<const double>(it->second),
                                        key.size() + sizeof(double));
            all.push_back({node->id, it->second});
        } else if (const auto kept = from.work.sums.find<double>(key)) {
            all.push_back({node->id, *kept});
        }
    }
    std::sort(all.begin(), all.end(),
              [](const NodeTime& a, const NodeTime& b) { return a.node < b.node; });
    return all;
}

void reportWhere(const Sweep& sweep, const JobContext& job)
{
    const std::size_t all = sweep.units().size(), fresh = sweep.unitsToMeasure();
    if (fresh == all)
        return;
    const Node* first = sweep.firstToRun();
    job.report("compare",
               (first ? "going on at '" + first->name + "'" : std::string("nothing to run")) + ", "
                   + std::to_string(fresh) + " of " + counted(std::int64_t(all), "value")
                   + " to measure",
               0);
}

Result<void> runBatches(Comparer& comparer, const Dataset& data, Relay& relay,
                        const JobContext& job)
{
    BatchReader reader(data, job, relay.firstOwn(), relay.stride());
    const std::int64_t count = reader.count();
    for (std::int64_t i = relay.firstOwn(); i < count; i += relay.stride()) {
        job.report("compare", "batch " + std::to_string(i + 1) + " of " + std::to_string(count),
                   double(i) / double(count));
        relay.begin(i);
        QS_TRY(const Batch batch, reader.next());
        QS_CHECK(comparer.addBatch(batch, job));
    }
    return {};
}

Result<ComparisonPtr> compareAll(const ConvertedModel& converted, const Dataset& data,
                                 const std::string& device, const ComparisonOptions& options,
                                 const JobContext& job)
{
    const auto& [from, edited, allLocalTerms, given] = options;
    const std::shared_ptr<Group> alone = singleProcess();
    Group& group = given ? *given : *alone;
    if (data.isSequence() && !group.isAlone())
        return fail(sequenceNeedsOneProcess());
    const at::Device torchDevice(device);
    // Without edits the converted model's own float form is the original.
    const GraphPtr& model
        = edited && edited->graph != edited->file ? edited->file : converted.prepared->model;
    QS_TRY(Sweep sweep,
           Sweep::create(converted, torchDevice,
                         model == converted.prepared->model ? nullptr : model, job));
    QS_CHECK(job.check());
    QS_TRY(OutputRun lowered, OutputRun::create(converted.lowered));
    QS_CHECK(job.check());
    const bool isSteady = isRepeatable(*model) && isRepeatable(*converted.reference);
    if (!allLocalTerms && isSteady) // a measurement draws random numbers, which shift later ones
        sweep.sampleLocalTerms(data.batchCount());
    std::optional<FormKeys> keys;
    if (from && !data.isSequence() && isSteady) {
        keys.emplace(*model, converted);
        const std::size_t part = from->work.values.budget() / 3;
        sweep.continueFrom(*from, keys->floatForm, keys->reference, part * 2);
        lowered.continueFrom(*from, keys->lowered, keys->loweredForm, part);
        reportWhere(sweep, job);
    }
    std::optional<Comparer> comparer;
    comparer.emplace(converted, torchDevice, std::move(sweep), std::move(lowered), edited);
    if (data.isSequence())
        comparer->followSequence();
    Relay relay(group, group.newName("compare"), 0, data.batchCount());
    if (relay.isActive())
        comparer->relayBy(relay);
    const auto done = runBatches(*comparer, data, relay, job);
    QS_TRY(const Relay::States states, relay.finish(done ? nullptr : &done.error(), job));
    QS_CHECK(comparer->adopt(states));
    comparer->warnOfUnknownLabels();
    Comparison comparison = comparer->result();
    comparison.allLocalTerms = allLocalTerms;
    if (keys) {
        comparer->keepSums(*from);
        comparison.floatTimes
            = withKeptTimes(comparison.floatTimes, *model, keys->floatForm, "float", *from);
        comparison.loweredTimes = withKeptTimes(comparison.loweredTimes, *converted.lowered,
                                                keys->lowered, keys->loweredForm, *from);
    }
    std::erase_if(comparison.floatTimes, [&](const NodeTime& time) {
        return !converted.prepared->model->tryGet(time.node); // an edit removed it
    });
    comparer.reset(); // its forms' folded weights go before others come
    returnFreedMemory();
    if (group.isFirst() && isRepeatable(*converted.prepared->model)) { // it has the first batch
        QS_TRY(const Batch first, data.batch(0));
        QS_TRY(comparison.departures, departures(converted, first, job));
        comparison.departureSamples = first.samples;
    }
    for (const std::string& line : comparison.losses)
        warn(line);
    for (const std::string& line : comparison.unpaired)
        note(line);
    return std::make_shared<const Comparison>(std::move(comparison));
}

} // namespace

Result<ComparisonPtr> compareModels(const ConvertedModel& converted, const Dataset& data,
                                    const std::string& device, const ComparisonOptions& options,
                                    const JobContext& job)
{
    return runOnEngine<ComparisonPtr>(
        converted.engine, [&] { return compareAll(converted, data, device, options, job); });
}

} // namespace qs
