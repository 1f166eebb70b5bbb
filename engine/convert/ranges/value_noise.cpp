// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/ranges/value_noise.h"

#include "engine/base/decibels.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

double cubed(double x)
{
    return x * x * x;
}

/// Integrals of one element's error from 0 to a position.
class LossIntegrals
{
public:
    LossIntegrals(const QParams& qparams, const QuantRange& stored)
        : m_scale(double(qparams.scale[0]))
        , m_low(m_scale * double(stored.min - qparams.zeroPoint[0]))
        , m_high(m_scale * double(stored.max - qparams.zeroPoint[0]))
    {
    }

    double rounding(double x) const
    {
        const double step = std::clamp(x, m_low, m_high) / m_scale;
        const double whole = std::nearbyint(step);
        // Each full quantization step adds step^3 / 12.
        return cubed(m_scale) * (whole / 12 + cubed(step - whole) / 3);
    }
    double clipping(double x) const { return cubed(x - std::clamp(x, m_low, m_high)) / 3; }
    double low() const { return m_low; }
    double high() const { return m_high; }

private:
    double m_scale, m_low, m_high;
};

/// A bin's ends and count; values are uniformly distributed.
struct Spread
{
    double begin = 0, end = 0;
    double count = 0;
};

double binWidthOf(const Histogram& histogram)
{
    return (double(histogram.max) - double(histogram.min)) / double(histogram.counts.size());
}

/// Calls `use` for each nonempty bin; returns the total number of values.
template<class Use>
double forEachBin(const Histogram& histogram, const Use& use)
{
    const auto& counts = histogram.counts;
    const double width = binWidthOf(histogram);
    double total = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        total += double(counts[i]);
        if (!(counts[i] > 0))
            continue;
        const double begin = double(histogram.min) + width * double(i);
        const double end = begin + width;
        double spread = double(counts[i]);
        if (begin <= 0 && end > 0) // a peak at zero is zeros
            spread = std::min(spread, double(counts[i + 1 < counts.size() ? i + 1 : i]));
        use(Spread {begin, end, spread});
    }
    return total;
}

} // namespace

std::optional<double> ValueNoise::sqnrDb() const
{
    if (!(signal > 0))
        return std::nullopt;
    return decibelsOf(signal, total());
}

std::optional<ValueNoise> valueNoise(const Histogram& histogram, const QParams& qparams,
                                     const QuantRange& stored)
{
    if (histogram.empty() || qparams.scale.size() != 1 || qparams.zeroPoint.size() != 1)
        return std::nullopt;
    const double width = binWidthOf(histogram);
    if (!(width > 0) || !(qparams.scale[0] > 0))
        return std::nullopt;
    const LossIntegrals loss(qparams, stored);
    ValueNoise out;
    const double total = forEachBin(histogram, [&](const Spread& bin) {
        out.signal += bin.count * (cubed(bin.end) - cubed(bin.begin)) / 3;
        out.rounding += bin.count * (loss.rounding(bin.end) - loss.rounding(bin.begin));
        out.clipping += bin.count * (loss.clipping(bin.end) - loss.clipping(bin.begin));
    });
    if (!(total > 0))
        return std::nullopt;
    for (double* sum : {&out.signal, &out.rounding, &out.clipping})
        *sum /= width * total;
    out.beyond = shareOutside(histogram, loss.low(), loss.high());
    return out;
}

double shareOutside(const Histogram& histogram, double low, double high)
{
    const double width = histogram.empty() ? 0 : binWidthOf(histogram);
    if (!(width > 0))
        return 0;
    double outside = 0;
    const double total = forEachBin(histogram, [&](const Spread& bin) {
        const double below = std::clamp(low, bin.begin, bin.end) - bin.begin;
        const double above = bin.end - std::clamp(high, bin.begin, bin.end);
        outside += bin.count * std::min(below + above, bin.end - bin.begin);
    });
    return total > 0 ? outside / (width * total) : 0;
}

} // namespace qs
