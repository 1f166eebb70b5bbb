// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/range_trial.h"

#include <algorithm>
#include <utility>

namespace qs {

const Histogram* shownHistogram(const ObserverStats* stats)
{
    return !stats ? nullptr : stats->fine.empty() ? &stats->exact : &stats->fine;
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
    m_chosen = chosenEnds(now);
    m_held = heldEnds(now);
    measure();
    m_before = m_noise;
}

void RangeTrial::measure()
{
    m_noise = valueNoise(*shownHistogram(m_stats), m_qparams, storageRange(m_qparams.dtype));
}

bool RangeTrial::holdsMore() const
{
    const QuantRange stored = storageRange(m_qparams.dtype);
    return m_qparams.quantMin != stored.min || m_qparams.quantMax != stored.max;
}

double RangeTrial::beyond() const
{
    const Histogram* histogram = shownHistogram(m_stats);
    return histogram ? shareOutside(*histogram, m_held.low, m_held.high) : 0;
}

void RangeTrial::move(int side, double to)
{
    if (isSymmetric(m_spec.qscheme)) {
        // Scaled by the integers on that side, so that the moved end is exactly at `to`.
        const ValueEnds unit = chosenEnds(qparamsFromRange(m_spec, {-1.0f}, {1.0f}));
        const double reach = std::max(0.0, to / (side == 0 ? unit.low : unit.high));
        setRange(-reach, reach);
    } else {
        setRange(side == 0 ? to : m_chosen.low, side == 0 ? m_chosen.high : to);
    }
}

void RangeTrial::moveHeld(int side, double to)
{
    const QuantRange stored = storageRange(m_qparams.dtype);
    const double steps = double(m_qparams.quantMax - m_qparams.quantMin);
    if (isSymmetric(m_spec.qscheme)) {
        const double share = heldEnd(side) != 0 ? end(side) / heldEnd(side) : 1;
        move(side, to * share);
    } else if (side == 0) {
        const double below = double(m_qparams.quantMin - stored.min) / steps;
        move(0, (to + below * m_chosen.high) / (1 + below));
    } else {
        const double reach = double(stored.max - m_qparams.quantMin) / steps;
        move(1, m_chosen.low + (to - m_chosen.low) / reach);
    }
}

void RangeTrial::setRange(double low, double high)
{
    if (!m_stats)
        return;
    m_chosen = {std::min(low, 0.0), std::max(high, 0.0)};
    m_qparams = qparamsFromRange(m_spec, {float(m_chosen.low)}, {float(m_chosen.high)});
    if (isSymmetric(m_spec.qscheme)) {
        m_chosen = chosenEnds(m_qparams);
        m_held = heldEnds(m_qparams);
    } else {
        // Without rounding the zero point: rounding would move both ends by up to half a step while
        // one is dragged. Values within half a step are rounded, not saturated.
        const QuantRange stored = storageRange(m_qparams.dtype);
        const double steps = double(m_qparams.quantMax - m_qparams.quantMin);
        const double step = std::max((m_chosen.high - m_chosen.low) / steps, m_spec.eps);
        m_held = {m_chosen.low - double(m_qparams.quantMin - stored.min) * step,
                  m_chosen.low + double(stored.max - m_qparams.quantMin) * step};
    }
    m_moved = true;
    measure();
}

void RangeTrial::take(const QParams& qparams)
{
    if (!m_stats || qparams.scale.size() != 1)
        return;
    m_qparams = qparams;
    m_chosen = chosenEnds(qparams);
    m_held = heldEnds(qparams);
    m_moved = true;
    measure();
}

ObserverSpec RangeTrial::fixedSpec() const
{
    ObserverSpec spec;
    spec.dtype = m_qparams.dtype;
    spec.qscheme = m_qparams.qscheme;
    return fixedBy(std::move(spec), m_qparams);
}

} // namespace qs
