// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/causes/scaled_channels.h"

#include "engine/base/torch_guard.h"
#include "engine/edit/cures/channel_chain.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/operators/operators.h"
#include "engine/plan/summaries/group_root.h"

#include <ATen/ATen.h>

#include <array>
#include <optional>

namespace qs {

namespace {

/// Exponents of SmoothQuant that are tried.
constexpr std::array kExponents {0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85};

constexpr double kWeightSteps = 127, kValueSteps = 255;
/// Of a value, over its largest magnitude: normally distributed values reach about three.
constexpr double kRootMeanSquare = 1.0 / 3;

/// The weights of all readers, [outputs, channels, positions], with zeros where an output does not
/// read a channel; and where it does, [outputs, channels]. In double precision.
struct ReadWeights
{
    at::Tensor weights, isRead;
};

/// The same of one reader; empty if its weight cannot be laid out so.
std::optional<ReadWeights> weightsOf(const Graph& model, const ChannelChain::Reader& reader,
                                     std::int64_t channels)
{
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
    return made;
}

/// Predicts noise at the results of the layers that read scaled channels.
class ScalingNoise
{
public:
    ScalingNoise(std::vector<ReadWeights> readers, const ValueProfile& profile)
        : m_readers(std::move(readers))
        , m_reach(at::tensor(profile.channelMax, at::kDouble))
        , m_low(at::tensor(profile.channelLow, at::kDouble))
        , m_high(at::tensor(profile.channelHigh, at::kDouble))
    {
        m_weights = at::zeros_like(m_reach);
        for (const ReadWeights& reader : m_readers)
            m_weights = at::maximum(m_weights, reader.weights.abs().amax({0, 2}));
        m_isUsed = m_reach.gt(0).logical_and(m_weights.gt(0));
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
        const double low = std::min(0.0, (m_low / factors).min().item<double>());
        const double high = std::max(0.0, (m_high / factors).max().item<double>());
        const double step = (high - low) / kValueSteps;
        const at::Tensor power = (m_reach / factors * kRootMeanSquare).square();
        double noise = 0;
        for (const ReadWeights& reader : m_readers) {
            const at::Tensor scaled = reader.weights * factors.unsqueeze(1);
            noise += step * step * scaled.square().sum().item<double>();
            const at::Tensor steps = (scaled.abs().amax({1, 2}) / kWeightSteps).square();
            const at::Tensor seen = reader.isRead.matmul(power) * double(scaled.size(2));
            noise += (steps * seen).sum().item<double>();
        }
        return noise;
    }

private:
    std::vector<ReadWeights> m_readers;
    at::Tensor m_reach, m_low, m_high, m_weights, m_isUsed; ///< by channel
};

/// The factors of SmoothQuant for the exponent of least predicted noise; empty if none is better
/// than the model as it is.
std::vector<double> smoothing(const ScalingNoise& noise, std::int64_t channels)
{
    at::Tensor best;
    double least = noise.of(at::ones({channels}, at::kDouble));
    for (const double exponent : kExponents) {
        const at::Tensor factors = noise.factors(exponent);
        if (const double made = noise.of(factors); made < least) {
            least = made;
            best = factors;
        }
    }
    if (!best.defined())
        return {};
    return {best.data_ptr<double>(), best.data_ptr<double>() + best.numel()};
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

} // namespace

std::vector<Proposal> scaledChannels(const SiteFacts& facts, const SiteBlame& blamed)
{
    const InferenceScope scope;
    const NodeId maker = makerOf(facts, blamed.site.node);
    const auto chain = channelChain(GraphEdit(facts.model()), maker);
    if (!chain || !blamed.profile
        || std::int64_t(blamed.profile->channelMax.size()) != chain->channels)
        return {};
    std::vector<ReadWeights> readers;
    for (const ChannelChain::Reader& reader : chain->readers) {
        auto weights = weightsOf(facts.model(), reader, chain->channels);
        if (!weights)
            return {};
        readers.push_back(std::move(*weights));
    }
    auto cure = facts.cureAt(CureKind::Smooth, maker);
    if (!cure)
        return {};
    cure->scales = smoothing(ScalingNoise(std::move(readers), *blamed.profile), chain->channels);
    if (cure->scales.empty())
        return {};
    std::vector<Proposal> proposals {{*cure, {}}};
    if (auto equal = chain->weight ? facts.cureAt(CureKind::Equalize, maker) : std::nullopt)
        proposals.push_back({*equal, {}});
    return proposals;
}

} // namespace qs
