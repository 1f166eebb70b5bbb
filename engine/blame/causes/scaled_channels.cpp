// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/causes/scaled_channels.h"

#include "engine/base/torch_guard.h"
#include "engine/edit/cures/channel_chain.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/operators/operators.h"
#include "engine/plan/summaries/group_root.h"

#include <ATen/ATen.h>

#include <array>
#include <cmath>
#include <optional>

namespace qs {

namespace {

/// Exponents of SmoothQuant that are tried.
constexpr std::array kExponents {0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65,
                                 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0};

/// The number of steps of a range.
double stepsOf(const ObserverSpec& spec)
{
    const QuantRange range = quantRange(spec);
    return double(range.max - range.min);
}

/// The weight of a reader, [outputs, channels, positions], with zeros where an output does not read
/// a channel; and where it does, [outputs, channels]. In double precision. With its grid.
struct ReadWeights
{
    at::Tensor weights, isRead;
    double steps = 0; ///< of its range; 0 if the weight is not quantized
    bool isPerRow = true; ///< each output has a scale
};

/// The observer of a reader's weight; null if the weight is not quantized.
const ObserverSpec* weightSpec(const Plan& plan, const StoredUse& weight)
{
    for (const PlannedObserver& observer : plan.observers)
        for (const ObservedEdge& edge : observer.edges)
            if (observer.isWeight && edge.value == ValueRef {weight.stored, 0}
                && isIntegerDType(observer.spec.dtype))
                return &observer.spec;
    return nullptr;
}

/// The weight of one reader; empty if it cannot be laid out so.
std::optional<ReadWeights> weightsOf(const SiteFacts& facts, const ChannelChain::Reader& reader,
                                     std::int64_t channels)
{
    const Graph& model = facts.model();
    const auto tensors = tensorsOf(model);
    const auto held = tensors ? tensors->getTensor(model.get(reader.weight.stored).tensor)
                              : Result<at::Tensor>(at::Tensor());
    if (!held || !held->defined())
        return std::nullopt;
    const at::Tensor weight = held->to(at::kDouble).movedim(reader.axis, 1).contiguous();
    const at::Tensor own = weight.dim() == 2 ? weight.unsqueeze(2) : weight.flatten(2);
    const std::int64_t outputs = own.size(0) / reader.groups, inputs = own.size(1);
    ReadWeights made {at::zeros({own.size(0), channels, own.size(2)}, at::kDouble),
                      at::zeros({own.size(0), channels}, at::kDouble)};
    for (std::int64_t group = 0; group < reader.groups; ++group) {
        const at::Tensor rows = own.narrow(0, group * outputs, outputs);
        made.weights.narrow(0, group * outputs, outputs)
            .narrow(1, group * inputs, inputs)
            .copy_(rows);
        made.isRead.narrow(0, group * outputs, outputs).narrow(1, group * inputs, inputs).fill_(1);
    }
    if (const ObserverSpec* spec = weightSpec(facts.plan(), reader.weight)) {
        made.steps = stepsOf(*spec);
        made.isPerRow = isPerChannel(spec->qscheme);
    }
    return made;
}

/// Predicts noise at the results of the layers that read scaled channels.
class ScalingNoise
{
public:
    /// `step`: the value's scale now, 0 if it is chosen at run time, for `steps` steps. It is
    /// assumed to shrink as the range of all values.
    ScalingNoise(std::vector<ReadWeights> readers, const ValueProfile& profile, double step,
                 double steps)
        : m_readers(std::move(readers))
        , m_squares(at::tensor(profile.meanSquare, at::kDouble))
        , m_reach(at::tensor(profile.channelMax, at::kDouble))
        , m_low(at::tensor(profile.channelLow, at::kDouble))
        , m_high(at::tensor(profile.channelHigh, at::kDouble))
    {
        m_weights = at::zeros_like(m_reach);
        for (const ReadWeights& reader : m_readers)
            m_weights = at::maximum(m_weights, reader.weights.abs().amax({0, 2}));
        m_isUsed = m_reach.gt(0).logical_and(m_weights.gt(0));
        m_part = step > 0 ? step / rangeOf(at::ones_like(m_reach)) : 1 / steps;
    }

    /// The factors max |x|^a / max |W|^(1-a).
    at::Tensor factors(double exponent) const
    {
        return at::where(m_isUsed, m_reach.pow(exponent) / m_weights.pow(1 - exponent),
                         at::ones_like(m_reach));
    }

    /// That of the rounded value through the weights, and of the rounded weights through the value.
    double of(const at::Tensor& factors) const
    {
        const double step = m_part * rangeOf(factors);
        const at::Tensor power = m_squares / factors.square();
        double noise = 0;
        for (const ReadWeights& reader : m_readers) {
            const at::Tensor scaled = reader.weights * factors.unsqueeze(1);
            noise += step * step * scaled.square().sum().item<double>();
            if (!(reader.steps > 0))
                continue;
            const at::Tensor reach = reader.isPerRow ? scaled.abs().amax({1, 2})
                                                     : scaled.abs().max().expand({scaled.size(0)});
            const at::Tensor steps = (2 * reach / reader.steps).square();
            const at::Tensor seen = reader.isRead.matmul(power) * double(scaled.size(2));
            noise += (steps * seen).sum().item<double>();
        }
        return noise;
    }

private:
    /// The width of the range of all scaled values.
    double rangeOf(const at::Tensor& factors) const
    {
        return std::max(0.0, (m_high / factors).max().item<double>())
            - std::min(0.0, (m_low / factors).min().item<double>());
    }

    std::vector<ReadWeights> m_readers;
    double m_part = 0; ///< of that range, one step
    at::Tensor m_squares, m_reach, m_low, m_high, m_weights, m_isUsed; ///< by channel
};

/// The factors of SmoothQuant for the exponent of least predicted noise, and what that is of the
/// present one; no factors if none is better than the model as it is.
struct Smoothing
{
    std::vector<double> factors;
    double part = 1;
};

Smoothing smoothing(const ScalingNoise& noise, std::int64_t channels)
{
    at::Tensor best;
    const double now = noise.of(at::ones({channels}, at::kDouble));
    double least = now;
    for (const double exponent : kExponents) {
        const at::Tensor factors = noise.factors(exponent);
        if (const double made = noise.of(factors); made < least) {
            least = made;
            best = factors;
        }
    }
    if (!best.defined())
        return {};
    return {{best.data_ptr<double>(), best.data_ptr<double>() + best.numel()}, least / now};
}

/// The operator before those that only hand scaled channels on.
NodeId makerOf(const SiteFacts& facts, NodeId node)
{
    const Node* at = &facts.model().get(groupRoot(facts.model(), facts.plan(), node));
    while (functionalFactsOf(at->target).traits.has(OperatorTrait::ScalesByChannel)) {
        const ValueRef* read = at->args.empty() ? nullptr : at->args.front().value.asRef();
        if (!read)
            break;
        at = &facts.model().get(groupRoot(facts.model(), facts.plan(), read->node));
    }
    return at->id;
}

/// Channels of the site's value that can be divided: in the weights of the layer that makes it;
/// else by a multiplication before its quantizer, if the value is made as a float.
std::optional<ChannelChain> chainOf(const SiteFacts& facts, const BlameSite& site)
{
    const GraphEdit graph(facts.model());
    const NodeId maker = makerOf(facts, site.node);
    if (auto chain = channelChain(graph, maker))
        return *chain;
    if (facts.isQuantized(site.node) || !site.value)
        return std::nullopt;
    auto chain = multipliedChain(graph, site.value);
    return chain ? std::optional(*chain) : std::nullopt;
}

} // namespace

ScaledChannels scaledChannels(const SiteFacts& facts, const SiteBlame& blamed)
{
    const InferenceScope scope;
    const PlannedObserver* observer = facts.observer(blamed.site);
    const QParams* now = facts.qparams(blamed.site);
    const auto chain = chainOf(facts, blamed.site);
    if (!chain || !blamed.profile || !observer || !isIntegerDType(observer->spec.dtype)
        || isPerChannel(observer->spec.qscheme)
        || (!observer->spec.isDynamic && (!now || now->scale.empty()))
        || std::int64_t(blamed.profile->channelMax.size()) != chain->channels)
        return {};
    std::vector<ReadWeights> readers;
    for (const ChannelChain::Reader& reader : chain->readers) {
        auto weights = weightsOf(facts, reader, chain->channels);
        if (!weights)
            return {};
        readers.push_back(std::move(*weights));
    }
    auto cure = chain->maker ? facts.cureAt(CureKind::Smooth, chain->maker)
                             : facts.cureAt(CureKind::Smooth, chain->multiplied);
    if (!cure)
        return {};
    const double step = observer->spec.isDynamic ? 0 : double(now->scale.front());
    const ScalingNoise noise(std::move(readers), *blamed.profile, step, stepsOf(observer->spec));
    Smoothing found = smoothing(noise, chain->channels);
    if (found.factors.empty())
        return {};
    cure->scales = std::move(found.factors);
    ScaledChannels made {{{*cure, {}}}, -10 * std::log10(found.part)};
    if (auto equal = chain->weight ? facts.cureAt(CureKind::Equalize, chain->maker) : std::nullopt)
        made.proposals.push_back({*equal, {}});
    return made;
}

} // namespace qs
