// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/calibrate/observations.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/convert/ranges/storage_range.h"
#include "engine/convert/ranges/value_noise.h"
#endif

#include <QString>

#include <optional>
#include <vector>

namespace qs {

/// The loss of a value under a range that a user tries, from its histogram. A value.
class RangeTrial
{
public:
    RangeTrial() = default;
    /// Borrows the statistics, which outlive it.
    RangeTrial(const ObserverStats& stats, const QParams& now);

    const QParams& qparams() const { return m_qparams; }
    /// Noise of the range on trial; nothing if it cannot be measured.
    const std::optional<ValueNoise>& noise() const { return m_noise; }
    const std::optional<ValueNoise>& noiseBefore() const { return m_before; }
    /// An end (0: the lower) of the range that the scale is chosen for.
    double end(int side) const { return side == 0 ? m_chosen.low : m_chosen.high; }
    /// An end of the range that the stored integers hold: values beyond it saturate.
    double heldEnd(int side) const { return side == 0 ? m_held.low : m_held.high; }
    const ValueEnds& held() const { return m_held; }
    /// True if the storage type has more integers than quant_min to quant_max (reduce_range).
    bool holdsMore() const;
    /// Share of the values beyond `held`.
    double beyond() const;
    /// Moves an end of the chosen range. Zero stays inside; a symmetric scheme moves both. Moving
    /// an end outwards never excludes a value from the held range.
    void move(int side, double to);
    /// Moves the chosen range so that an end of the held range is at `to`.
    void moveHeld(int side, double to);
    void setRange(double low, double high);
    /// Sets the parameters that an alternative chose.
    void take(const QParams& qparams);
    bool isMoved() const { return m_moved; }
    /// The observer with this range as a fixed one.
    ObserverSpec fixedSpec() const;

private:
    void measure();

    const ObserverStats* m_stats = nullptr;
    ObserverSpec m_spec; ///< computes parameters from a range
    QParams m_qparams;
    std::optional<ValueNoise> m_noise, m_before;
    ValueEnds m_chosen, m_held; ///< as requested, before the zero point is rounded
    bool m_moved = false;
};

/// The histogram that a value's error is computed from.
const Histogram* shownHistogram(const ObserverStats* stats);

} // namespace qs
