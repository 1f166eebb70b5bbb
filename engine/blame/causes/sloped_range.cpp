// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/causes/sloped_range.h"

#include "engine/base/decibels.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/convert/ranges/histogram_ranges.h"
#include "engine/convert/ranges/storage_range.h"
#include "engine/convert/ranges/value_noise.h"

#include <algorithm>

namespace qs {

namespace {

using SlopesPtr = std::shared_ptr<const ValueSlopes>;

/// Returns the slopes of every site of the observer; empty if one has none.
std::vector<SlopesPtr> slopesOf(const Blame& blame, ObserverId observer)
{
    std::vector<SlopesPtr> all;
    for (const SiteBlame& other : blame.sites) {
        if (other.site.observer != observer)
            continue;
        if (other.blocked || !other.slopes || other.slopes->counts.empty())
            return {};
        all.push_back(other.slopes);
    }
    return all;
}

/// Sums of squared gradients and of counts over an interval.
struct Steepness
{
    double squares = 0, counts = 0;

    void add(const ValueSlopes& slopes, double low, double high)
    {
        const auto bins = slopes.counts.size();
        const double perBin = double(bins) / (2 * slopes.reach);
        const auto place = [&](double x) {
            return std::size_t(std::clamp((x + slopes.reach) * perBin, 0.0, double(bins - 1)));
        };
        for (std::size_t i = place(low); i <= place(high); ++i) {
            squares += slopes.squares[i];
            counts += slopes.counts[i];
        }
    }
    double mean() const { return counts > 0 ? squares / counts : 0; }
};

/// Returns the counts weighted by the mean squared gradient of their bin; empty bins use the
/// overall mean.
Histogram weighed(const Histogram& counted, const std::vector<SlopesPtr>& slopes)
{
    Steepness all;
    for (const SlopesPtr& one : slopes)
        all.add(*one, -one->reach, one->reach);
    Histogram out = counted;
    const double width
        = (double(counted.max) - double(counted.min)) / double(counted.counts.size());
    for (std::size_t i = 0; i < out.counts.size() && all.mean() > 0; ++i) {
        Steepness here;
        const double low = double(counted.min) + width * double(i);
        for (const SlopesPtr& one : slopes)
            here.add(*one, low, low + width);
        out.counts[i] *= float((here.counts > 0 ? here.mean() : all.mean()) / all.mean());
    }
    return out;
}

} // namespace

std::optional<SlopedRange> slopedRange(const SiteFacts& facts, const SiteBlame& blamed)
{
    const ObserverStats* seen = facts.stats(blamed.site);
    const QParams* now = facts.qparams(blamed.site);
    const PlannedObserver* observer = facts.observer(blamed.site);
    if (!seen || !now || !observer || now->scale.size() != 1 || isSymmetric(now->qscheme))
        return std::nullopt;
    const Histogram& counted = seen->fine.empty() ? seen->exact : seen->fine;
    const auto slopes = slopesOf(*facts.parts().blame, blamed.site.observer);
    if (counted.empty() || slopes.empty())
        return std::nullopt;
    const Histogram felt = weighed(counted, slopes);
    const ValueRange range = mseRange(felt, observer->spec);
    const QParams best = qparamsFromRange(observer->spec, {range.min}, {range.max});
    const QuantRange stored = storageRange(storageDType(now->dtype));
    const auto before = valueNoise(felt, *now, stored), after = valueNoise(felt, best, stored);
    if (!before || !after || before->total() <= 0 || after->total() <= 0)
        return std::nullopt;
    return SlopedRange {fixedBy(observer->spec, best), decibelsOf(before->total(), after->total())};
}

} // namespace qs
