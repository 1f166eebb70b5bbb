// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/range_trial.h"

#include "engine/convert/quantize_weights.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace qs {

const Histogram* shownHistogram(const ObserverStats* stats)
{
    return !stats ? nullptr : stats->fine.empty() ? &stats->exact : &stats->fine;
}

std::pair<double, double> keptRange(const QParams& params)
{
    const double scale = double(params.scale.front());
    const double zero = double(params.zeroPoint.front());
    return {(double(params.quantMin) - zero) * scale, (double(params.quantMax) - zero) * scale};
}

RangeTrial::RangeTrial(const ObserverStats& stats, const QParams& now)
    : m_stats(&stats)
    , m_spec(stats.spec)
    , m_qparams(now)
{
    m_spec.kind = ObserverKind::MinMax;
    m_spec.quantMin = now.quantMin;
    m_spec.quantMax = now.quantMax;
    m_spec.reduceRange = false;
    std::tie(m_low, m_high) = keptRange(now);
    measure();
    m_before = m_noise;
}

void RangeTrial::measure()
{
    m_noise = valueNoise(*shownHistogram(m_stats), m_qparams, storageRange(m_qparams.dtype));
}

void RangeTrial::move(int side, double to)
{
    double low = m_low, high = m_high;
    (side == 0 ? low : high) = to;
    if (isSymmetric(m_spec.qscheme)) {
        high = std::abs(to);
        low = -high;
    }
    setRange(low, high);
}

void RangeTrial::setRange(double low, double high)
{
    if (!m_stats)
        return;
    m_low = std::min(low, 0.0);
    m_high = std::max(high, 0.0);
    m_qparams = qparamsFromRange(m_spec, {float(m_low)}, {float(m_high)});
    m_moved = true;
    measure();
}

void RangeTrial::take(const QParams& qparams)
{
    if (!m_stats || qparams.scale.size() != 1)
        return;
    m_qparams = qparams;
    std::tie(m_low, m_high) = keptRange(qparams);
    m_moved = true;
    measure();
}

ObserverSpec RangeTrial::fixedSpec() const
{
    ObserverSpec spec;
    spec.kind = ObserverKind::FixedQParams;
    spec.dtype = m_qparams.dtype;
    spec.qscheme = m_qparams.qscheme;
    spec.quantMin = m_qparams.quantMin;
    spec.quantMax = m_qparams.quantMax;
    spec.scale = double(m_qparams.scale.at(0));
    spec.zeroPoint = m_qparams.zeroPoint.at(0);
    return spec;
}

} // namespace qs
