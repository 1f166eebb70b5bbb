// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/causes/diagnose.h"

#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/blame/causes/mask_constant.h"
#include "engine/blame/causes/outliers.h"
#include "engine/blame/causes/scaled_channels.h"
#include "engine/blame/causes/site_facts.h"
#include "engine/blame/causes/sloped_range.h"
#include "engine/blame/diagnosis.h"
#include "engine/convert/ranges/storage_range.h"
#include "engine/convert/ranges/value_noise.h"
#include "engine/graph/operators/operators.h"
#include "engine/plan/summaries/group_root.h"
#include "engine/result/part_text.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace qs {

namespace {

constexpr double kNarrowed = 0.5; ///< fraction of a range
constexpr double kClippingOverRounding = 4;
constexpr double kGainDb = 0.5;
constexpr double kSpread = 8; ///< ratio between channels
constexpr double kMeanPower = 0.3; ///< fraction of the noise's power
/// The preset of a recurrent layer that computes its gates and states in floats.
constexpr const char* kDynamicQConfig = "per_channel_dynamic";
constexpr double kWeightPart = 0.3; ///< fraction of the noise from an operator's weight and inputs

/// x for which a thousand terms exp(-x) are less than half a float32 step of a softmax's sum. A
/// mask need not subtract more than this plus the scores' range.
constexpr double kSoftmaxZero = 24;

bool isValue(const SiteBlame& blamed)
{
    return blamed.site.kind == BlameSite::Kind::Value;
}

void append(std::vector<Proposal>& to, std::vector<Proposal> more)
{
    for (Proposal& one : more)
        to.push_back(std::move(one));
}

Found maskConstant(const SiteFacts& facts, const SiteBlame& blamed)
{
    const ObserverStats* seen = isValue(blamed) ? facts.stats(blamed.site) : nullptr;
    if (!seen || seen->min > seen->max || magnitudeOf(*seen) < kMaskMagnitude)
        return std::nullopt;
    std::vector<Proposal> proposals;
    const NodeId holder = maskHolder(facts, blamed.site.node);
    if (auto bound = holder ? facts.cureAt(CureKind::Bound, holder) : std::nullopt) {
        bound->bound = kSoftmaxZero + scoreRange(facts, blamed.site);
        proposals.push_back({*bound, {}});
    }
    append(proposals, facts.withoutQuantizer(blamed.site));
    return caused(CauseCode::MaskConstant,
                  {"the range is " + figureText(seen->min) + " to " + figureText(seen->max)},
                  std::move(proposals));
}

/// Returns the alternative with the same width and scheme that has the least noise by the
/// histogram.
std::optional<Alternative> leastNoise(const std::vector<Alternative>& ways, const ObserverSpec& now)
{
    std::optional<Alternative> best;
    for (const Alternative& way : ways)
        if (way.sqnrDb && way.spec.dtype == now.dtype && way.spec.qscheme == now.qscheme
            && quantRange(way.spec) == quantRange(now) && (!best || *way.sqnrDb > *best->sqnrDb))
            best = way;
    return best;
}

double stepOf(const QParams& qparams)
{
    return qparams.scale.empty() ? 0 : double(qparams.scale.front());
}

Found wrongRange(const SiteFacts& facts, const SiteBlame& blamed)
{
    const ObserverStats* seen = isValue(blamed) ? facts.stats(blamed.site) : nullptr;
    const QParams* now = facts.qparams(blamed.site);
    const PlannedObserver* observer = facts.observer(blamed.site);
    if (!seen || !now || !observer || isPerChannel(now->qscheme))
        return std::nullopt;
    const auto noise = valueNoise(seen->fine, *now, storageRange(storageDType(now->dtype)));
    if (!noise)
        return std::nullopt;
    const auto best = leastNoise(valueAlternatives(*seen), observer->spec);
    const double gain = best && noise->sqnrDb() ? *best->sqnrDb - *noise->sqnrDb() : 0;
    if (noise->clipping > kClippingOverRounding * noise->rounding && gain > kGainDb)
        return caused(
            CauseCode::Clipped,
            {figureText(100 * noise->beyond) + " % of the values lie beyond the range and lose "
                 + figureText(noise->rounding > 0 ? noise->clipping / noise->rounding : 0)
                 + " times as much as rounding",
             "with " + best->name + " the value would gain " + fixedText(gain, 1) + " dB"},
            facts.otherRange(blamed.site, best->spec));
    if (gain > kGainDb && stepOf(best->qparams) < kNarrowed * stepOf(*now))
        return caused(CauseCode::RangeWide,
                      {"the range of least noise (" + best->name + ") is "
                           + figureText(100 * stepOf(best->qparams) / stepOf(*now))
                           + " % of the chosen one",
                       "it would gain the value " + fixedText(gain, 1) + " dB"},
                      facts.otherRange(blamed.site, best->spec));
    const auto sloped = slopedRange(facts, blamed);
    if (sloped && sloped->gainDb > kGainDb && sloped->spec.scale < kNarrowed * stepOf(*now))
        return caused(
            CauseCode::RangeWide,
            {"the outputs are insensitive to the largest values: the range of least noise in them "
             "is "
                 + figureText(100 * sloped->spec.scale / stepOf(*now)) + " % of the chosen one",
             "the value's noise in the outputs would shrink by " + fixedText(sloped->gainDb, 1)
                 + " dB"},
            facts.otherRange(blamed.site, sloped->spec));
    return std::nullopt;
}

Found sharedRange(const SiteFacts& facts, const SiteBlame& blamed)
{
    const SharedRange* shared = isValue(blamed) ? facts.shared(blamed.site) : nullptr;
    if (!shared)
        return std::nullopt;
    std::vector<Proposal> proposals;
    if (shared->separator)
        if (const auto cure = facts.cureAt(CureKind::Float, shared->separator))
            proposals.push_back({*cure, {}});
    return caused(CauseCode::SharedRange, {shared->text}, std::move(proposals));
}

Found needlessOutput(const SiteFacts& facts, const SiteBlame& blamed)
{
    if (!isValue(blamed) || !facts.isQuantized(blamed.site.node))
        return std::nullopt;
    const auto isFloat = [&](NodeId reader) { return !facts.isQuantized(reader); };
    if (!isLayer(facts.model(), facts.plan(), blamed.site.node)
        || !std::all_of(blamed.site.at.begin(), blamed.site.at.end(), isFloat))
        return std::nullopt;
    const NodeId root = groupRoot(facts.model(), facts.plan(), blamed.site.node);
    std::vector<Proposal> proposals;
    if (const auto cure = facts.cureAt(CureKind::FloatResult, root))
        proposals.push_back({*cure, {}});
    return caused(CauseCode::NeedlessOutput,
                  {blamed.site.at.empty() ? std::string("only the model's caller reads the result")
                                          : "all readers of the result are float: "
                           + counted(blamed.site.at.size(), "operator")},
                  std::move(proposals));
}

Found channelSpread(const SiteFacts& facts, const SiteBlame& blamed)
{
    constexpr double kLow = 0.1, kHigh = 0.9; // quantiles of the channels
    if (!isValue(blamed) || blamed.site.readers != ReaderClass::Multiplies || !blamed.profile
        || blamed.profile->channelMax.size() < 2)
        return std::nullopt;
    const double low = quantileOf(blamed.profile->channelMax, kLow);
    const double high = quantileOf(blamed.profile->channelMax, kHigh);
    if (!facts.model().tryGet(blamed.site.node) || low <= 0 || high < kSpread * low)
        return std::nullopt;
    ScaledChannels scaled = scaledChannels(facts, blamed);
    if (!isLayer(facts.model(), facts.plan(), blamed.site.node) && scaled.proposals.empty())
        return std::nullopt;
    std::vector<std::string> evidence {"a tenth of the channels stays below " + figureText(low)
                                       + ", a tenth exceeds " + figureText(high)};
    if (!scaled.proposals.empty())
        evidence.push_back("scaled, the noise of its quantizer and of the weights that read it "
                           "would shrink by "
                           + fixedText(scaled.shrinksDb, 1) + " dB");
    return caused(CauseCode::ChannelSpread, std::move(evidence), std::move(scaled.proposals));
}

bool isRecurrent(const Node& node)
{
    return factsOf(node.target).family == OperatorFamily::Recurrent;
}

Found biasShift(const SiteFacts& facts, const SiteBlame& blamed)
{
    const bool isOfRecurrent
        = !isValue(blamed) && isRecurrent(facts.model().get(blamed.site.node)); // see `bias`
    if (isOfRecurrent || !blamed.profile || blamed.profile->errorPower.empty())
        return std::nullopt;
    double means = 0, power = 0;
    for (std::size_t c = 0; c < blamed.profile->errorPower.size(); ++c) {
        means += blamed.profile->meanError[c] * blamed.profile->meanError[c];
        power += blamed.profile->errorPower[c];
    }
    if (power <= 0 || means < kMeanPower * power)
        return std::nullopt;
    return caused(CauseCode::BiasShift,
                  {figureText(100 * means / power) + " % of its noise is the mean of a channel"},
                  {});
}

Found weightRounding(const SiteFacts& facts, const SiteBlame& blamed)
{
    if (blamed.site.kind != BlameSite::Kind::Weight)
        return std::nullopt;
    const double own = blamed.expected, inputs = facts.shareInto(blamed.site.node);
    if (own < kWeightPart * (own + inputs))
        return std::nullopt;
    std::vector<Proposal> proposals;
    if (const auto cure = facts.cureAt(CureKind::Float, blamed.site.node))
        proposals.push_back({*cure, {}});
    return caused(CauseCode::WeightRounding,
                  {"the weight causes " + figureText(100 * own / (own + inputs))
                   + " % of the noise of the operator's weight and inputs"},
                  std::move(proposals));
}

Found recurrence(const SiteFacts& facts, const SiteBlame& blamed)
{
    if (blamed.site.kind != BlameSite::Kind::Interior)
        return std::nullopt;
    std::vector<Proposal> proposals;
    if (auto cure = facts.cureAt(CureKind::Dynamic, blamed.site.node);
        cure && facts.takesDynamic(blamed.site.node)) {
        cure->qconfig = kDynamicQConfig;
        proposals.push_back({*cure, {}});
    }
    if (const auto cure = facts.cureAt(CureKind::Float, blamed.site.node))
        proposals.push_back({*cure, {}});
    const double inputs = facts.shareInto(blamed.site.node);
    return caused(CauseCode::Recurrence,
                  {"quantization inside causes "
                   + figureText(100 * blamed.expected / (blamed.expected + inputs))
                   + " % of the noise of the layer and its inputs"},
                  std::move(proposals));
}

Found bitsUnused(const SiteFacts& facts, const SiteBlame& blamed)
{
    const auto proposals = isValue(blamed) ? facts.allBits(blamed.site) : std::vector<Proposal> {};
    if (proposals.empty())
        return std::nullopt;
    const QuantRange used = quantRange(facts.observer(blamed.site)->spec);
    return caused(CauseCode::BitsUnused,
                  {"the range uses " + std::to_string(used.max - used.min + 1)
                   + " of 256 steps; this machine's kernels take all of them"},
                  proposals);
}

using Row = Found (*)(const SiteFacts&, const SiteBlame&);
constexpr std::array<Row, 12> kRows {maskConstant,  outlierChannel, outlierPosition, wrongRange,
                                     outlierSample, sharedRange,    needlessOutput,  channelSpread,
                                     biasShift,     weightRounding, recurrence,      bitsUnused};

} // namespace

std::vector<Cause> diagnose(const DiagnosisParts& parts)
{
    const SiteFacts facts(parts);
    const double all = expectedNoise(*parts.blame);
    std::vector<Cause> causes;
    for (std::size_t i = 0; i < parts.blame->sites.size(); ++i) {
        const SiteBlame& blamed = parts.blame->sites[i];
        const double share = noisePart(blamed, all).part;
        if (!(share >= kLeastPart))
            continue;
        Found found;
        for (const Row row : kRows)
            if (!found)
                found = row(facts, blamed);
        if (!found)
            found = caused(CauseCode::Unexplained, extremesOf(blamed), {});
        Cause cause = std::move(*found);
        cause.site = i;
        cause.share = share;
        causes.push_back(std::move(cause));
    }
    std::stable_sort(causes.begin(), causes.end(),
                     [](const Cause& a, const Cause& b) { return a.share > b.share; });
    return causes;
}

} // namespace qs
