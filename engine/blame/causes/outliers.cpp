// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/causes/outliers.h"

#include "engine/base/text.h"
#include "engine/blame/causes/scaled_channels.h"
#include "engine/blame/causes/split_channels.h"
#include "engine/values/channel_outliers.h"

#include <algorithm>

namespace qs {

namespace {

/// Maximum fraction of channels, positions or samples that count as outliers.
constexpr double kFewOfAll = 0.1;
constexpr double kInMostBatches = 0.9;
constexpr double kWithoutFew = 0.5; ///< fraction of a range

double largestOf(const std::vector<double>& values)
{
    return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

/// Magnitudes of the channels that are read.
struct ChannelSizes
{
    /// Median and maximum of all; maximum of the non-outliers.
    double median = 0, whole = 0, others = 0;
    std::size_t count = 0;
    std::vector<std::size_t> wide; ///< outliers in most batches, largest first
    std::vector<bool> large; ///< by channel: true if unread, or an outlier over all samples

    ChannelSizes(const ValueProfile& profile, std::vector<bool> unread)
        : large(std::move(unread))
    {
        large.resize(profile.channelMax.size());
        std::vector<double> read;
        for (std::size_t c = 0; c < large.size(); ++c)
            if (!large[c])
                read.push_back(profile.channelMax[c]);
        count = read.size();
        if (count == 0)
            return;
        median = quantileOf(read, 0.5);
        whole = largestOf(read);
        for (std::size_t c = 0; c < large.size(); ++c) {
            if (large[c])
                continue;
            if (profile.channelWide[c] >= kInMostBatches)
                wide.push_back(c);
            else
                others = std::max(others, profile.channelMax[c]);
            large[c] = profile.channelMax[c] >= kWideRange * median;
        }
        std::sort(wide.begin(), wide.end(), [&](std::size_t a, std::size_t b) {
            return profile.channelMax[a] > profile.channelMax[b];
        });
    }
};

/// Proposes all bits first, then scaling the channels, splitting them off linears, last float
/// consumers.
std::vector<Proposal> withoutOutliers(const SiteFacts& facts, const SiteBlame& blamed,
                                      const ChannelSizes& sizes)
{
    std::vector<Proposal> proposals = facts.withoutQuantizer(blamed.site);
    if (blamed.site.readers != ReaderClass::Multiplies)
        return proposals;
    std::vector<Proposal> more = scaledChannels(facts, blamed).proposals;
    const auto count = std::count(sizes.large.begin(), sizes.large.end(), true);
    if (double(count) <= kFewOfAll * double(sizes.large.size())) {
        const auto split = splitReaders(facts, blamed, sizes.large);
        more.insert(more.end(), split.begin(), split.end());
    }
    const auto place = std::find_if(proposals.begin(), proposals.end(), [](const Proposal& one) {
        return one.cure.kind == CureKind::Float;
    });
    proposals.insert(place, more.begin(), more.end());
    return proposals;
}

/// A few values that are much larger than the others.
struct FewLarge
{
    std::size_t first = 0, count = 0; ///< index of the largest; their number
    double largest = 0, median = 0, others = 0; ///< others: largest of the rest
};

/// Returns nullopt without outliers, with too many, or if the rest is nearly as large.
std::optional<FewLarge> fewLarge(const std::vector<double>& sizes)
{
    if (sizes.size() < 2)
        return std::nullopt;
    FewLarge few;
    few.median = quantileOf(sizes, 0.5);
    few.first = std::size_t(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
    few.largest = sizes[few.first];
    for (const double size : sizes) {
        if (size >= kWideRange * few.median)
            ++few.count;
        else
            few.others = std::max(few.others, size);
    }
    const double most = std::max(1.0, kFewOfAll * double(sizes.size()));
    if (few.median <= 0 || few.count == 0 || double(few.count) > most
        || few.others > kWithoutFew * few.largest)
        return std::nullopt;
    return few;
}

/// "channel 5 of 24 reaches 64, 60 times the median channel"
std::string largestText(const std::string& what, std::size_t index, std::size_t count,
                        double largest, double median)
{
    return what + " " + std::to_string(index) + " of " + std::to_string(count) + " reaches "
        + figureText(largest) + ", " + figureText(median > 0 ? largest / median : 0)
        + " times the median " + what;
}

/// "without 2 channels the range would be 3 % of it"
std::string withoutText(const std::string& what, std::size_t count, double others, double largest)
{
    return "without " + counted(count, what) + " the range would be "
        + figureText(100 * others / largest) + " % of it";
}

Found outliersAmong(const std::vector<double>& sizes, const std::string& what, CauseCode code,
                    const SiteFacts& facts, const SiteBlame& blamed)
{
    const auto few = fewLarge(sizes);
    if (!few)
        return std::nullopt;
    return caused(code,
                  {largestText(what, few->first, sizes.size(), few->largest, few->median),
                   withoutText(what, few->count, few->others, few->largest)},
                  facts.withoutQuantizer(blamed.site));
}

const ValueProfile* profileOf(const SiteBlame& blamed)
{
    return blamed.site.kind == BlameSite::Kind::Value ? blamed.profile.get() : nullptr;
}

} // namespace

std::string figureText(double value)
{
    return numberText(value, 3);
}

double quantileOf(std::vector<double> values, double part)
{
    const auto at = values.begin() + std::ptrdiff_t(part * double(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

Cause caused(CauseCode code, std::vector<std::string> evidence, std::vector<Proposal> proposals)
{
    Cause cause;
    cause.code = code;
    cause.evidence = std::move(evidence);
    cause.proposals = std::move(proposals);
    return cause;
}

Found outlierChannel(const SiteFacts& facts, const SiteBlame& blamed)
{
    const ValueProfile* profile = profileOf(blamed);
    if (!profile || profile->channelMax.size() < 2)
        return std::nullopt;
    const ChannelSizes sizes(*profile, unreadChannels(facts, blamed.site));
    if (sizes.wide.empty() || double(sizes.wide.size()) > kFewOfAll * double(sizes.count)
        || sizes.others > kWithoutFew * sizes.whole)
        return std::nullopt;
    const std::size_t first = sizes.wide.front();
    return caused(
        CauseCode::OutlierChannel,
        {largestText("channel", first, profile->channelMax.size(), sizes.whole, sizes.median),
         withoutText("channel", sizes.wide.size(), sizes.others, sizes.whole)},
        withoutOutliers(facts, blamed, sizes));
}

Found outlierPosition(const SiteFacts& facts, const SiteBlame& blamed)
{
    const ValueProfile* profile = profileOf(blamed);
    return profile
        ? outliersAmong(profile->positionMax, "place", CauseCode::OutlierPosition, facts, blamed)
        : std::nullopt;
}

Found outlierSample(const SiteFacts& facts, const SiteBlame& blamed)
{
    const ValueProfile* profile = profileOf(blamed);
    return profile
        ? outliersAmong(profile->sampleMax, "sample", CauseCode::OutlierSample, facts, blamed)
        : std::nullopt;
}

std::vector<std::string> extremesOf(const SiteBlame& blamed)
{
    std::vector<std::string> lines;
    if (const ValueProfile* profile = profileOf(blamed))
        for (const auto& [what, sizes] : {std::pair("channel", &profile->channelMax),
                                          std::pair("sample", &profile->sampleMax)}) {
            if (sizes->size() < 2)
                continue;
            const auto largest = std::max_element(sizes->begin(), sizes->end());
            lines.push_back(largestText(what, std::size_t(largest - sizes->begin()), sizes->size(),
                                        *largest, quantileOf(*sizes, 0.5)));
        }
    return lines;
}

} // namespace qs
