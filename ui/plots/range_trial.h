// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/calibrate/observations.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/convert/ranges/value_noise.h"
#endif

#include <QString>

#include <optional>
#include <utility>
#include <vector>

namespace qs {

/// What a range that a user tries would lose of a value, from its histogram. A value.
class RangeTrial
{
public:
    RangeTrial() = default;
    /// Borrows the statistics, which outlive it.
    RangeTrial(const ObserverStats& stats, const QParams& now);

    const QParams& qparams() const { return m_qparams; }
    /// Of the range that is tried; nothing where there is nothing to measure.
    const std::optional<ValueNoise>& noise() const { return m_noise; }
    const std::optional<ValueNoise>& noiseBefore() const { return m_before; }
    double end(int side) const { return side == 0 ? m_low : m_high; }
    /// Moves an end (0: the lower). Zero stays inside; a symmetric scheme moves both.
    void move(int side, double to);
    void setRange(double low, double high);
    /// The range of parameters that another way chose.
    void take(const QParams& qparams);
    bool isMoved() const { return m_moved; }
    /// The observer that keeps this range for good.
    ObserverSpec fixedSpec() const;

private:
    void measure();

    const ObserverStats* m_stats = nullptr;
    ObserverSpec m_spec; ///< that makes parameters of a range
    QParams m_qparams;
    std::optional<ValueNoise> m_noise, m_before;
    double m_low = 0, m_high = 0; ///< as asked for
    bool m_moved = false;
};

/// The histogram that a value's error is told from.
const Histogram* shownHistogram(const ObserverStats* stats);
/// The range that the scale was chosen for: [(qmin - z)·s, (qmax - z)·s].
std::pair<double, double> keptRange(const QParams& params);

} // namespace qs
