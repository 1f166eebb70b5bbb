// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/backward_passes.h"

#include "engine/base/text.h"
#include "engine/blame/isolation.h"
#include "engine/compare/output_run.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/values/channel_axis.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>

namespace qs {

namespace {

/// Returns a tensor of +1 and -1, determined by the seed, the batch, the probe and the output.
at::Tensor probeLike(const at::Tensor& output, std::uint64_t seed, std::int64_t batch, int probe,
                     std::size_t index)
{
    constexpr std::size_t kDigits = 15; // hexadecimal digits of a hash for the generator's seed
    const Key key = KeyBuilder("probe")
                        .add(std::int64_t(seed))
                        .add(batch)
                        .add(std::int64_t(probe))
                        .add(std::int64_t(index))
                        .key();
    const at::Generator generator
        = at::detail::createCPUGenerator(std::stoull(key.substr(0, kDigits), nullptr, 16));
    return (at::randint(0, 2, output.sizes(), generator, at::kFloat) * 2 - 1).to(output.options());
}

/// Returns the only dimension with the batch's size. If there are several, the only one with a
/// symbolic size; else -1.
int sampleAxis(const ValueType& type, const at::Tensor& value, std::int64_t samples)
{
    const bool isShaped = type.shapeKnown && std::int64_t(type.shape.size()) == value.dim();
    std::vector<int> all, open;
    for (int d = 0; d < value.dim(); ++d) {
        if (value.size(d) != samples)
            continue;
        all.push_back(d);
        if (isShaped && type.shape[std::size_t(d)].isSymbolic())
            open.push_back(d);
    }
    return all.size() == 1 ? all.front() : open.size() == 1 ? open.front() : -1;
}

std::vector<bool> areValues(const std::vector<BlameSite>& sites)
{
    std::vector<bool> are;
    for (const BlameSite& site : sites)
        are.push_back(site.kind == BlameSite::Kind::Value);
    return are;
}

std::size_t countOf(const std::map<std::size_t, std::vector<QParams>>& tries)
{
    std::size_t count = 0;
    for (const auto& [site, ranges] : tries)
        count += ranges.size();
    return count;
}

/// Returns all outputs of one call; calls `inspect` after each node.
Result<std::vector<at::Tensor>>
runForm(const Interpreter& run, const std::vector<at::IValue>& inputs,
        const std::function<Result<void>(const Node&, const Frame&)>& inspect,
        const JobContext& job)
{
    const auto nodes = run.graph().nodes();
    QS_TRY(Frame frame, startFrame(run, inputs, {}));
    for (std::size_t position = 0; position < nodes.size(); ++position) {
        QS_CHECK(job.check());
        const Node& node = *nodes[position];
        if (node.isOperator() && !run.isConstant({node.id, 0})) {
            QS_CHECK(run.runNode(node, frame));
            QS_CHECK(inspect(node, frame));
        }
        for (const ValueRef& ref : run.deadAfter(position))
            frame.release(ref);
    }
    return outputTensors(run, frame);
}

} // namespace

std::vector<at::Tensor> measuredOutputs(const BlameRuns& runs, const std::vector<at::Tensor>& all)
{
    std::vector<at::Tensor> some;
    for (const std::size_t place : runs.outputs)
        some.push_back(all.at(place));
    return some;
}

BackwardPasses::BackwardPasses(const BlameRuns& runs, Gradients gradients, std::uint64_t seed)
    : m_runs(runs)
    , m_gradients(std::move(gradients))
    , m_seed(seed)
    , m_sums(areValues(runs.twin.sites))
    , m_tried(std::vector<bool>(countOf(runs.tries)), false)
    , m_idle(runs.twin.sites.size(), true)
    , m_powers(runs.weights)
    , m_ahead(runs.weights)
{
    std::size_t from = 0;
    for (const auto& [site, ranges] : runs.tries) {
        m_triedFrom[site] = from;
        from += ranges.size();
    }
    // First place of each pair; its noise is the same for all consumers.
    std::unordered_map<NodeId, std::size_t> first;
    for (std::size_t i = 0; i < runs.twin.places.size(); ++i) {
        const NoisePlace& place = runs.twin.places[i];
        const bool isValue = runs.twin.sites[place.site].kind == BlameSite::Kind::Value;
        m_same.push_back(isValue ? first.try_emplace(place.noisy.node, i).first->second : i);
        m_uses.push_back(0);
        ++m_uses[m_same.back()];
        if (isValue)
            m_pairs[place.noisy.node].push_back(place.site);
        else
            m_idle[place.site] = false;
    }
}

Result<BackwardPasses> BackwardPasses::create(const BlameRuns& runs, std::uint64_t seed,
                                              std::size_t bytes, const JobContext& job)
{
    GradientRequest request;
    for (const NoisePlace& place : runs.twin.places)
        request.sites.push_back(place.at);
    const auto arguments = outputArguments(*runs.twin.graph);
    for (const std::size_t output : runs.outputs)
        request.outputs.push_back(*arguments[output]->asRef());
    request.bytes = bytes;
    QS_TRY(Gradients gradients, Gradients::create(runs.floatRun, std::move(request), job));
    BackwardPasses passes(runs, std::move(gradients), seed);
    QS_CHECK(passes.findIdleWeights(job));
    return passes;
}

Result<void> BackwardPasses::findIdleWeights(const JobContext& job)
{
    const Interpreter& run = m_runs.referenceRun;
    const auto read = [&](ValueRef ref) {
        return run.isConstant(ref) ? run.constant(ref) : run.computeConstant(ref);
    };
    for (const StoredPair& pair : m_runs.twin.stored) {
        QS_CHECK(job.check());
        if (!pair.raw) {
            m_idle[pair.site] = false;
            continue;
        }
        const auto raw = run.computeConstant(pair.raw), shown = read(pair.shown);
        if (raw && shown && raw->isTensor() && shown->isTensor())
            m_idle[pair.site] = at::equal(raw->toTensor(), shown->toTensor());
    }
    return {};
}

Result<void> BackwardPasses::measure(const std::vector<at::IValue>& inputs, std::int64_t samples,
                                     const JobContext& job)
{
    const auto nothing = [](const Node&, const Frame&) -> Result<void> { return {}; };
    QS_TRY(const auto all, runForm(m_runs.floatRun, inputs, nothing, job));
    const auto outputs = measuredOutputs(m_runs, all);
    QS_CHECK(checkFinite(outputs));
    m_ahead.addSignal(outputs);
    m_aheadSamples += samples;
    return {};
}

Result<void> BackwardPasses::add(const std::vector<at::IValue>& inputs, std::int64_t samples,
                                 int probes, const JobContext& job)
{
    QS_TRY(const auto noisy, runReference(inputs, job));
    m_sums.beginBatch(samples, probes);
    m_tried.beginBatch(samples, probes);
    m_probes = probes;
    m_kept.clear();
    const auto give
        = [&](int probe, std::span<const at::Tensor> outputs) -> Result<std::vector<at::Tensor>> {
        const std::vector<at::Tensor> given(outputs.begin(), outputs.end());
        if (probe == 0)
            QS_CHECK(addOutputs(given, noisy, samples));
        return cotangents(given, probe);
    };
    const auto see = [&](std::size_t place, int probe, const at::Tensor& value,
                         const at::Tensor& gradient, const Frame& segment) -> Result<void> {
        QS_CHECK(job.check());
        return addPlace(place, probe, value, gradient, segment);
    };
    QS_CHECK(m_gradients.run(inputs, probes, give, see, job));
    m_sums.endBatch();
    m_tried.endBatch();
    ++m_batch;
    return {};
}

std::vector<std::optional<SiteBlame>> BackwardPasses::sites() const
{
    std::vector<std::optional<SiteBlame>> found(m_runs.twin.sites.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (m_idle[i])
            continue;
        SiteBlame& site = found[i].emplace();
        site.site = m_runs.twin.sites[i];
        site.share = correction() * m_sums.share(i);
        site.standardError = correction() * m_sums.standardError(i);
        site.white = correction() * m_sums.white(i);
        // Rounding, for example, has derivative zero but propagates noise.
        site.blocked = site.share == 0 && m_sums.isNoisy(i);
        site.ownDb = m_sums.ownDb(i);
        site.profile = m_sums.profile(i);
        site.slopes = m_sums.slopes(i);
        if (const auto from = m_triedFrom.find(i); from != m_triedFrom.end())
            for (std::size_t k = 0; k < m_runs.tries.at(i).size(); ++k)
                site.tried.push_back({correction() * m_tried.share(from->second + k),
                                      m_tried.ownDb(from->second + k)});
    }
    for (const BlockedSite& blocked : m_gradients.blocked())
        if (auto& site = found[m_runs.twin.places[blocked.site].site]; site && blocked.node)
            site->blocked = true;
    return found;
}

double BackwardPasses::correction() const
{
    double sum = 0, weights = 0;
    for (std::size_t i = 0; i < m_scales.size(); ++i)
        if (const double weight = m_powers.weight(i); m_scales[i] > 0 && weight > 0) {
            const double power = m_powers.signal(i) / double(m_sums.samples());
            sum += weight * weight / (m_scales[i] * m_scales[i] * power);
            weights += weight;
        }
    return weights > 0 ? sum / weights : 1;
}

std::set<std::string> BackwardPasses::blocks() const
{
    std::set<std::string> lines;
    for (const BlockedSite& blocked : m_gradients.blocked())
        if (blocked.node && !m_idle[m_runs.twin.places[blocked.site].site])
            lines.insert(blocked.reason);
    for (std::size_t i = 0; i < m_runs.twin.sites.size(); ++i)
        if (!m_idle[i] && m_sums.share(i) == 0 && m_sums.isNoisy(i))
            if (const Node* node = m_runs.twin.graph->tryGet(m_runs.twin.sites[i].node))
                lines.insert("what follows " + inQuotes(node->name) + " has a derivative of zero");
    return lines;
}

Result<std::vector<at::Tensor>> BackwardPasses::runReference(const std::vector<at::IValue>& inputs,
                                                             const JobContext& job)
{
    const Interpreter& run = m_runs.referenceRun;
    std::unordered_map<NodeId, at::Tensor> raw; // by quantize node, until its dequantize has run
    const auto inspect = [&](const Node& node, const Frame& frame) -> Result<void> {
        if (isQuantizeStep(node.target)) {
            QS_TRY(const at::IValue value, valueOf(run, frame, *node.args.at(0).value.asRef()));
            raw[node.id] = value.toTensor();
        } else if (const auto pair = m_pairs.find(node.id); pair != m_pairs.end()) {
            const NodeId quantize = node.args.at(0).value.asRef()->node;
            const bool isKnown = !m_idle[pair->second.front()]; // equal for all sites of a pair
            if (!isKnown && !at::equal(raw.at(quantize), frame.get({node.id, 0}).toTensor()))
                for (const std::size_t site : pair->second)
                    m_idle[site] = false;
            raw.erase(quantize);
        }
        return {};
    };
    QS_TRY(const auto outputs, runForm(run, inputs, inspect, job));
    return measuredOutputs(m_runs, outputs);
}

Result<void> BackwardPasses::checkFinite(const std::vector<at::Tensor>& outputs) const
{
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (!at::isfinite(outputs[i]).all().item<bool>())
            return fail(ErrorCode::BadInput,
                        "the output '" + m_runs.names.at(m_runs.outputs[i])
                            + "' of the float model is not finite on these data");
    return {};
}

Result<void> BackwardPasses::addOutputs(const std::vector<at::Tensor>& outputs,
                                        const std::vector<at::Tensor>& noisy, std::int64_t samples)
{
    QS_CHECK(checkFinite(outputs));
    m_powers.addSignal(outputs);
    m_powers.addNoise(outputs, noisy);
    if (!m_scales.empty())
        return {};
    const OutputPowers& known = m_aheadSamples ? m_ahead : m_powers;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const double power = known.signal(i) / double(m_aheadSamples ? m_aheadSamples : samples);
        m_scales.push_back(power > 0 ? std::sqrt(known.weight(i) / power) : 0);
    }
    return {};
}

std::vector<at::Tensor> BackwardPasses::cotangents(const std::vector<at::Tensor>& outputs,
                                                   int probe) const
{
    std::vector<at::Tensor> made;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        made.push_back(m_scales[i] > 0
                           ? probeLike(outputs[i], m_seed, m_batch, probe, i) * m_scales[i]
                           : at::Tensor());
    return made;
}

Result<void> BackwardPasses::addPlace(std::size_t index, int probe, const at::Tensor& value,
                                      const at::Tensor& gradient, const Frame& segment)
{
    const NoisePlace& place = m_runs.twin.places[index];
    const std::size_t same = m_same[index];
    auto kept = m_kept.find(same);
    if (kept == m_kept.end()) {
        QS_TRY(const at::Tensor noisy,
               noisyValue(place, value, m_runs.floatRun, m_runs.referenceRun, segment));
        const bool fits = noisy.defined() && noisy.sizes() == value.sizes();
        kept = m_kept.try_emplace(same, Kept {fits ? noisy : at::Tensor(), 0}).first;
    }
    const int channels = channelAxis(*m_runs.twin.graph, place.at, std::size_t(value.dim()));
    const int samples
        = sampleAxis(m_runs.twin.graph->value(place.at).type, value, m_sums.batchSamples());
    if (kept->second.noisy.defined()) {
        m_sums.add(place.site, probe, value.detach(), kept->second.noisy, gradient,
                   {channels, samples});
        addTries(place.site, probe, value.detach(), gradient, {channels, samples});
    }
    if (++kept->second.uses == m_uses[same] * m_probes)
        m_kept.erase(kept);
    return {};
}

void BackwardPasses::addTries(std::size_t site, int probe, const at::Tensor& value,
                              const at::Tensor& gradient, SiteAxes axes)
{
    const auto from = m_triedFrom.find(site);
    if (from == m_triedFrom.end())
        return;
    const std::vector<QParams>& ranges = m_runs.tries.at(site);
    const at::Tensor given = value.to(at::kFloat);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const QParams& range = ranges[i];
        const at::Tensor noisy = at::fake_quantize_per_tensor_affine(
            given, range.scale.at(0), range.zeroPoint.at(0), range.quantMin, range.quantMax);
        m_tried.add(from->second + i, probe, given, noisy, gradient, axes);
    }
}

} // namespace qs
