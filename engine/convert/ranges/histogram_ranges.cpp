// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/ranges/histogram_ranges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace qs {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int kCoarseSteps = 128;
constexpr int kFineSteps = 16;
constexpr int kRounds = 4;

bool isPoint(const Histogram& histogram)
{
    return histogram.empty() || !(histogram.max > histogram.min);
}

double binWidth(const Histogram& histogram)
{
    return (double(histogram.max) - histogram.min) / double(histogram.counts.size());
}

/// Fraction kept of each end, between 0 and 1.
struct Shares
{
    double low = 1;
    double high = 1;
};

/// Minimizes `cost` (of Shares): moves both ends towards zero together, then each alternately,
/// coarsely over its whole range and finely around the best position, until no move improves it.
template<class Cost>
Shares searchShares(bool movesLow, bool movesHigh, const Cost& cost)
{
    Shares best;
    double least = cost(best);
    const auto consider = [&](Shares next) {
        const double value = cost(next);
        if (value < least) {
            least = value;
            best = next;
        }
    };
    const auto moveEnd = [&](double Shares::*end) {
        const auto moved = [&](double share) {
            Shares next = best;
            next.*end = share;
            return next;
        };
        for (int step = kCoarseSteps; step > 0; --step)
            consider(moved(double(step) / kCoarseSteps));
        const double from = std::min(1.0, best.*end + 1.0 / kCoarseSteps);
        const double to = std::max(0.0, best.*end - 1.0 / kCoarseSteps);
        for (int step = 1; step < 2 * kFineSteps; ++step)
            consider(moved(from + (to - from) * step / (2 * kFineSteps)));
    };
    if (movesLow && movesHigh)
        for (int step = kCoarseSteps; step > 0; --step)
            consider({double(step) / kCoarseSteps, double(step) / kCoarseSteps});
    for (int round = 0; round < kRounds; ++round) {
        const double before = least;
        if (movesHigh)
            moveEnd(&Shares::high);
        if (movesLow)
            moveEnd(&Shares::low);
        if (least == before || !movesLow || !movesHigh)
            break;
    }
    return best;
}

/// The cost of rounding and clipping: the integral of the squared error from 0 to a position.
class ErrorIntegral
{
public:
    explicit ErrorIntegral(const QParams& qparams)
        : m_scale(qparams.scale.at(0))
        , m_low(m_scale * double(qparams.quantMin - qparams.zeroPoint.at(0)))
        , m_high(m_scale * double(qparams.quantMax - qparams.zeroPoint.at(0)))
    {
    }
    double operator()(double x) const
    {
        const double inside = std::clamp(x, m_low, m_high);
        const double clipped = x - inside;
        const double step = inside / m_scale;
        const double whole = std::nearbyint(step);
        const double rest = step - whole;
        // Each full quantization step adds step^3 / 12.
        return m_scale * m_scale * m_scale * (whole / 12 + rest * rest * rest / 3)
            + clipped * clipped * clipped / 3;
    }

private:
    double m_scale, m_low, m_high;
};

/// Counts with zero at a bin's edge.
struct ZeroedCounts
{
    std::vector<double> counts;
    std::size_t zero = 0; ///< bins below zero
    double width = 0;
};

/// Returns the counts over a range that contains zero, or over |x|.
ZeroedCounts aroundZero(const Histogram& histogram, bool folded)
{
    const auto bins = histogram.counts.size();
    const double reach = std::max(std::abs(histogram.min), std::abs(histogram.max));
    const double low = folded ? 0 : std::min(0.0, double(histogram.min));
    const double high = folded ? reach : std::max(0.0, double(histogram.max));
    ZeroedCounts out;
    out.width = (high - low) / double(bins);
    out.zero = std::size_t(std::ceil(-low / out.width - 1e-9));
    const auto above = std::size_t(std::ceil(high / out.width - 1e-9));
    out.counts.assign(out.zero + std::max<std::size_t>(above, out.zero ? 0 : 1), 0);
    const double width = binWidth(histogram);
    for (std::size_t i = 0; i < bins; ++i) {
        double middle = histogram.min + width * (double(i) + 0.5);
        if (folded)
            middle = std::abs(middle);
        const auto bin = std::int64_t(std::floor(middle / out.width)) + std::int64_t(out.zero);
        const auto last = std::int64_t(out.counts.size()) - 1;
        out.counts[std::size_t(std::clamp<std::int64_t>(bin, 0, last))] += histogram.counts[i];
    }
    return out;
}

/// Flattens the peak at zero: zero is exact for any step, so the peak must not narrow the range.
void flattenZero(ZeroedCounts& values)
{
    auto& counts = values.counts;
    const std::size_t zero = values.zero;
    if (zero + 1 < counts.size())
        counts[zero] = std::min(counts[zero], counts[zero + 1]);
    if (zero > 1)
        counts[zero - 1] = std::min(counts[zero - 1], counts[zero - 2]);
}

double timesLog(double x)
{
    return x > 0 ? x * std::log(x) : 0;
}

/// The kept bins: `first` to `end`, exclusive.
struct Bins
{
    std::size_t first = 0;
    std::size_t end = 0;
};

/// KL(P || Q): P = the kept bins with the counts of all others added at their ends; Q = the same
/// bins without the others, merged into levels and distributed again over the nonempty bins. Uses
/// prefix sums over bins, so that each level costs one logarithm.
class Divergence
{
public:
    Divergence(const std::vector<double>& counts, double levels)
        : m_counts(counts)
        , m_levels(levels)
        , m_mass(counts.size() + 1, 0)
        , m_held(counts.size() + 1, 0)
        , m_logs(counts.size() + 1, 0)
    {
        for (std::size_t i = 0; i < counts.size(); ++i) {
            m_mass[i + 1] = m_mass[i] + counts[i];
            m_held[i + 1] = m_held[i] + (counts[i] > 0);
            m_logs[i + 1] = m_logs[i] + timesLog(counts[i]);
        }
    }

    double operator()(Bins kept) const
    {
        const std::size_t length = kept.end - kept.first;
        const double total = m_mass.back();
        const double inside = m_mass[kept.end] - m_mass[kept.first];
        if (double(length) < m_levels || inside <= 0)
            return kInf;
        const double below = m_mass[kept.first];
        const double above = total - m_mass[kept.end];
        double sum = m_logs[kept.end] - m_logs[kept.first] + raised(kept.first, below)
            + raised(kept.end - 1, above);
        std::size_t begin = kept.first;
        for (std::size_t level = 1; begin < kept.end; ++level) {
            const auto end = kept.first
                + std::min(length, std::size_t(std::llround(double(level * length) / m_levels)));
            const double mass = m_mass[end] - m_mass[begin];
            // The end bins contain the clipped values, even if they were empty.
            const double clipped
                = mass + (begin == kept.first ? below : 0) + (end == kept.end ? above : 0);
            const double held = m_held[end] - m_held[begin]
                + (begin == kept.first ? filled(kept.first, below) : 0)
                + (end == kept.end ? filled(kept.end - 1, above) : 0);
            // A bin of P that is empty in Q has a large but finite cost.
            if (clipped > 0)
                sum -= clipped * std::log(std::max(mass / held / inside, kLeastShare) * total);
            begin = end;
        }
        // Q lacks the clipped mass (Csiszar's divergence of unequal masses). The term is negligible
        // for a small share; without it, keeping a single bin would seem a perfect match.
        const double share = inside / total;
        return sum / total - std::log(share) - 1 + share;
    }

private:
    static constexpr double kLeastShare = 1e-9;

    /// Returns the change of the sum of c log c if a bin's count increases by `more`.
    double raised(std::size_t bin, double more) const
    {
        return timesLog(m_counts[bin] + more) - timesLog(m_counts[bin]);
    }
    double filled(std::size_t bin, double more) const
    {
        return m_counts[bin] > 0 || more <= 0 ? 0 : 1;
    }

    const std::vector<double>& m_counts;
    double m_levels;
    std::vector<double> m_mass, m_held, m_logs; ///< prefix sums over the bins
};

/// Returns the bins to keep: searches symmetric ranges around zero first, then all positions of
/// each end.
Bins searchBins(const ZeroedCounts& values, const Divergence& divergence)
{
    const std::size_t size = values.counts.size();
    Bins best {0, size};
    double least = divergence(best);
    const auto consider = [&](Bins next) {
        const double cost = divergence(next);
        if (cost < least) {
            least = cost;
            best = next;
        }
    };
    for (std::size_t reach = std::max(values.zero, size - values.zero); reach > 0; --reach)
        consider({values.zero - std::min(reach, values.zero), std::min(size, values.zero + reach)});
    for (int round = 0; round < kRounds; ++round) {
        const double before = least;
        for (std::size_t end = size; end > values.zero && end > best.first; --end)
            consider({best.first, end});
        for (std::size_t first = 0; first < std::min(values.zero + 1, best.end); ++first)
            consider({first, best.end});
        if (least == before)
            break;
    }
    return best;
}

/// Returns the value below which `mass` of the counts lies.
double quantile(const Histogram& histogram, double mass)
{
    double below = 0;
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
        const double count = histogram.counts[i];
        if (count > 0 && below + count >= mass) {
            const double inside = std::clamp((mass - below) / count, 0.0, 1.0);
            return histogram.min + binWidth(histogram) * (double(i) + inside);
        }
        below += count;
    }
    return histogram.max;
}

} // namespace

ValueRange percentileRange(const Histogram& histogram, double percent)
{
    if (isPoint(histogram))
        return {histogram.min, histogram.max};
    const double total = std::accumulate(histogram.counts.begin(), histogram.counts.end(), 0.0);
    const double cut = total * (100 - percent) / 200;
    return {float(quantile(histogram, cut)), float(quantile(histogram, total - cut))};
}

Histogram coarser(const Histogram& histogram, std::size_t most)
{
    const std::size_t bins = histogram.counts.size(), together = (bins + most - 1) / most;
    if (bins <= most)
        return histogram;
    Histogram out {histogram.min, histogram.max, {}};
    out.counts.assign((bins + together - 1) / together, 0);
    for (std::size_t i = 0; i < bins; ++i)
        out.counts[i / together] += histogram.counts[i];
    out.max
        = float(histogram.min + binWidth(histogram) * double(together) * double(out.counts.size()));
    return out;
}

ValueRange entropyRange(const Histogram& histogram, const ObserverSpec& spec)
{
    if (isPoint(histogram))
        return {histogram.min, histogram.max};
    const bool folded = isSymmetric(spec.qscheme);
    ZeroedCounts values = aroundZero(histogram, folded);
    flattenZero(values);
    // Divergence compares shapes. Fewer values than bins have no shape: clipping right after a
    // single value would cost nothing, however much it clips.
    const double held = std::accumulate(values.counts.begin(), values.counts.end(), 0.0);
    if (held < double(histogram.counts.size()))
        return mseRange(histogram, spec);
    const QuantRange range = quantRange(spec);
    const double levels = double(range.max - range.min + 1) / (folded ? 2 : 1);
    const Bins kept = searchBins(values, Divergence(values.counts, levels));
    const double high = (double(kept.end) - double(values.zero)) * values.width;
    if (folded)
        return {float(-high), float(high)};
    const double low = (double(kept.first) - double(values.zero)) * values.width;
    return {std::max(float(low), std::min(0.0f, histogram.min)),
            std::min(float(high), std::max(0.0f, histogram.max))};
}

double expectedSquaredError(const Histogram& histogram, const QParams& qparams)
{
    const ErrorIntegral integral(qparams);
    const auto& counts = histogram.counts;
    const double width = binWidth(histogram);
    double sum = 0, total = 0;
    double begin = histogram.min, before = integral(begin);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const double end = histogram.min + width * double(i + 1);
        const double after = integral(end);
        double spread = counts[i];
        if (begin <= 0 && end > 0) // a peak at zero is zeros, which are exact
            spread = std::min(spread, double(counts[i + 1 < counts.size() ? i + 1 : i]));
        sum += spread * (after - before);
        total += counts[i];
        begin = end;
        before = after;
    }
    return total > 0 && width > 0 ? sum / width / total : 0;
}

ValueRange mseRange(const Histogram& histogram, const ObserverSpec& spec)
{
    if (isPoint(histogram))
        return {histogram.min, histogram.max};
    const bool symmetric = isSymmetric(spec.qscheme);
    const double reach = std::max(std::abs(histogram.min), std::abs(histogram.max));
    const double low = symmetric ? -reach : std::min(0.0, double(histogram.min));
    const double high = symmetric ? reach : std::max(0.0, double(histogram.max));
    const auto rangeOf = [&](Shares shares) {
        return ValueRange {float(low * (symmetric ? shares.high : shares.low)),
                           float(high * shares.high)};
    };
    const Shares best = searchShares(low < 0 && !symmetric, high > 0, [&](Shares shares) {
        const ValueRange range = rangeOf(shares);
        return expectedSquaredError(histogram, qparamsFromRange(spec, {range.min}, {range.max}));
    });
    return rangeOf(best);
}

} // namespace qs
