// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/blame_sites.h"

#include "engine/base/text.h"
#include "engine/blame/backward_passes.h"
#include "engine/blame/isolation.h"
#include "engine/compare/output_run.h"
#include "engine/convert/form_parts.h"

#include <algorithm>
#include <unordered_map>

namespace qs {

namespace {

constexpr std::int64_t kMeasuredWhereNotAdditive = 16;
constexpr std::int64_t kMostProbes = 4096;

/// Returns the flat indices of the outputs that may be floating-point, in order.
std::vector<std::size_t> floatOutputs(const Graph& graph)
{
    std::vector<std::size_t> places;
    const auto arguments = outputArguments(graph);
    for (std::size_t i = 0; i < arguments.size(); ++i)
        if (const ValueRef* ref = arguments[i]->asRef(); ref && graph.value(*ref).type.mayBeFloat())
            places.push_back(i);
    return places;
}

/// Exact shares of single sites over the same batches.
class ExactShares
{
public:
    explicit ExactShares(const BlameRuns& runs)
        : m_runs(runs)
        , m_isolation(runs.twin, runs.floatRun, runs.referenceRun)
    {
    }

    Result<void> add(const std::vector<at::IValue>& inputs, const std::vector<std::size_t>& sites,
                     const JobContext& job)
    {
        std::vector<at::Tensor> clean;
        return m_isolation.run(
            inputs, sites,
            [&](std::optional<std::size_t> site, const std::vector<at::Tensor>& all) {
                const auto outputs = measuredOutputs(m_runs, all);
                if (!site) {
                    clean = outputs;
                    for (const std::size_t each : sites)
                        m_powers.try_emplace(each, m_runs.weights).first->second.addSignal(outputs);
                } else {
                    m_powers.at(*site).addNoise(clean, outputs);
                }
            },
            job);
    }

    double share(std::size_t site) const { return m_powers.at(site).share(); }

private:
    const BlameRuns& m_runs;
    Isolation m_isolation;
    std::unordered_map<std::size_t, OutputPowers> m_powers;
};

/// The amount of data used.
struct Taken
{
    std::int64_t batches = 0, samples = 0;
    int probes = 1;
};

Result<Taken> takenOf(const Dataset& data, const BlameOptions& options)
{
    if (data.batchCount() < 1)
        return fail(ErrorCode::BadInput, "the data hold no sample");
    QS_TRY(const Batch first, data.batch(0));
    const std::int64_t each = std::max<std::int64_t>(1, first.samples);
    Taken taken;
    const std::int64_t wanted = options.samples / each + (options.samples % each > 0);
    taken.batches = std::clamp<std::int64_t>(wanted, 1, data.batchCount());
    taken.samples = taken.batches * each;
    taken.probes = int(std::clamp<std::int64_t>((options.rows + taken.samples - 1) / taken.samples,
                                                1, kMostProbes));
    return taken;
}

/// Returns a batch with its tensors on the device.
Result<Batch> batchOn(const Dataset& data, std::int64_t index, at::Device device)
{
    QS_TRY(Batch batch, data.batch(index));
    for (at::IValue& input : batch.inputs)
        if (input.isTensor())
            input = input.toTensor().to(device);
    return batch;
}

/// Returns the sites to measure, as indices into `found`.
std::vector<std::size_t> chosen(const std::vector<std::optional<SiteBlame>>& found,
                                const Blame& blame, const BlameOptions& options)
{
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < found.size(); ++i)
        if (found[i])
            order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return found[a]->share > found[b]->share;
    });
    std::vector<std::size_t> sites;
    const bool isNeeded = !blame.isAdditive();
    const auto most = options.exact.value_or(isNeeded ? kMeasuredWhereNotAdditive : 0);
    for (const std::size_t site : order)
        if (std::int64_t(sites.size()) < most || (!options.exact && found[site]->blocked))
            sites.push_back(site);
    return sites;
}

/// Sets `expected`. If the model is far from linear, predictions have similar errors, so those of
/// unmeasured sites are scaled by the ratio of exact to predicted shares of the measured ones.
void expect(std::vector<std::optional<SiteBlame>>& found)
{
    double predicted = 0, measured = 0;
    for (const auto& site : found)
        if (site && site->exact && !site->blocked) {
            predicted += site->share;
            measured += *site->exact;
        }
    const double factor = predicted > 0 && measured > 0 ? measured / predicted : 1;
    for (auto& site : found)
        if (site)
            site->expected = site->exact.value_or(factor * site->share);
    for (auto& site : found)
        for (std::size_t i = 0; site && i < site->tried.size(); ++i)
            site->tried[i].share *= site->share > 0 ? site->expected / site->share : factor;
}

Result<Blame> blameOf(const BlameRuns& runs, const Dataset& data, const BlameOptions& options,
                      const JobContext& job)
{
    QS_TRY(const Taken taken, takenOf(data, options));
    QS_TRY(BackwardPasses passes, BackwardPasses::create(runs, options.seed, options.bytes, job));
    const bool isMeasured = runs.outputs.size() > 1 && taken.batches > 1;
    for (std::int64_t i = 0; isMeasured && i < taken.batches; ++i) {
        QS_TRY(const Batch batch, batchOn(data, i, runs.floatRun.device()));
        QS_CHECK(passes.measure(batch.inputs, batch.samples, job));
    }
    for (std::int64_t i = 0; i < taken.batches; ++i) {
        job.report("blame",
                   "batch " + std::to_string(i + 1) + " of " + std::to_string(taken.batches),
                   double(i) / double(taken.batches));
        QS_TRY(const Batch batch, batchOn(data, i, runs.floatRun.device()));
        QS_CHECK(passes.add(batch.inputs, batch.samples, taken.probes, job));
    }
    auto found = passes.sites();
    Blame blame;
    blame.measured = passes.powers().share();
    blame.samples = passes.samples();
    blame.probes = taken.probes;
    for (const auto& site : found)
        blame.predicted += site ? site->share : 0;
    for (const std::string& line : passes.blocks())
        blame.leftOut.push_back(line);
    for (std::size_t i = 0; i < runs.names.size(); ++i) {
        const auto place = std::find(runs.outputs.begin(), runs.outputs.end(), i);
        if (place == runs.outputs.end())
            blame.leftOut.push_back("the output '" + runs.names[i]
                                    + "' is not measured: it holds no floats");
        else if (!passes.powers().isMeasured(std::size_t(place - runs.outputs.begin())))
            blame.leftOut.push_back("the output '" + runs.names[i]
                                    + "' is not measured: it is zero");
        else
            blame.outputs.push_back(runs.names[i]);
    }
    const auto sites = chosen(found, blame, options);
    if (!sites.empty()) {
        ExactShares exact(runs);
        for (std::int64_t i = 0; i < taken.batches; ++i) {
            job.report("blame",
                       counted(sites.size(), "site") + " alone, batch " + std::to_string(i + 1)
                           + " of " + std::to_string(taken.batches),
                       double(i) / double(taken.batches));
            QS_TRY(const Batch batch, batchOn(data, i, runs.floatRun.device()));
            QS_CHECK(exact.add(batch.inputs, sites, job));
        }
        for (const std::size_t site : sites)
            found[site]->exact = exact.share(site);
    }
    expect(found);
    for (auto& site : found)
        if (site)
            blame.sites.push_back(std::move(*site));
    std::stable_sort(
        blame.sites.begin(), blame.sites.end(),
        [](const SiteBlame& a, const SiteBlame& b) { return a.expected > b.expected; });
    return blame;
}

} // namespace

Result<BlamePtr> blameSites(const ConvertedModel& converted, const Dataset& data,
                            const std::string& device, const BlameOptions& options,
                            const JobContext& job, const RangesToTry& tries)
{
    const at::Device place(device);
    job.report("blame", "the model without quantizers", 0);
    QS_TRY(const FloatTwin twin, floatTwin(converted, job));
    QS_TRY(const Interpreter floatRun, Interpreter::create(twin.graph, {.device = place}, job));
    QS_TRY(const Interpreter referenceRun,
           Interpreter::create(twin.reference, {.device = place}, job));
    BlameRuns runs {twin, floatRun, referenceRun, floatOutputs(*twin.graph),
                    formOutputNames(*converted.prepared->model, converted.referenceEdits)};
    for (std::size_t i = 0; i < twin.sites.size(); ++i)
        if (const auto wanted = tries.find(twin.sites[i].value);
            wanted != tries.end() && twin.sites[i].kind == BlameSite::Kind::Value)
            runs.tries[i] = wanted->second;
    if (!options.weights.empty())
        for (const std::size_t output : runs.outputs)
            runs.weights.push_back(output < options.weights.size() ? options.weights[output] : 0);
    if (runs.outputs.empty())
        return fail(ErrorCode::Unsupported,
                    "the model returns no floats: there is no noise to blame");
    QS_TRY(Blame made, blameOf(runs, data, options, job));
    return std::make_shared<const Blame>(std::move(made));
}

} // namespace qs
