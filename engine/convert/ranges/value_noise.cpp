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

/// Integrals from 0 to a place of what one element loses.
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
        // Each whole step adds 1/12 of a cubic step.
        return cubed(m_scale) * (whole / 12 + cubed(step - whole) / 3);
    }
    double clipping(double x) const { return cubed(x - std::clamp(x, m_low, m_high)) / 3; }
    double beyond(double x) const { return x - std::clamp(x, m_low, m_high); }

private:
    double m_scale, m_low, m_high;
};

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
    const auto& counts = histogram.counts;
    const double width = (double(histogram.max) - double(histogram.min)) / double(counts.size());
    if (!(width > 0) || !(qparams.scale[0] > 0))
        return std::nullopt;
    const LossIntegrals loss(qparams, stored);
    ValueNoise out;
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
        out.signal += spread * (cubed(end) - cubed(begin)) / 3;
        out.rounding += spread * (loss.rounding(end) - loss.rounding(begin));
        out.clipping += spread * (loss.clipping(end) - loss.clipping(begin));
        out.beyond += spread * std::abs(loss.beyond(end) - loss.beyond(begin));
    }
    if (!(total > 0))
        return std::nullopt;
    for (double* sum : {&out.signal, &out.rounding, &out.clipping, &out.beyond})
        *sum /= width * total;
    return out;
}

} // namespace qs
