// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/convert/ranges/storage_range.h"
#include "engine/values/value_inspection.h"
#endif

#include <optional>
#include <vector>

class QCPGraph;
class QCPItemLine;
class QCPStatisticalBox;
class QCustomPlot;

namespace qs {

/// A box for each channel of a value: median and quartiles, whiskers at 1 and 99 percent, and the
/// ends of the range that quantization holds as two lines. Boxes that would be narrower than six
/// pixels are drawn as bands through all channels. Owned by its page; draws on the page's plot,
/// which lives longer.
class BoxPlot
{
public:
    explicit BoxPlot(QCustomPlot& plot);

    /// Sets the channels, in order; one without finite values is left out. `held`: nothing for a
    /// value with several scales or none.
    void show(const std::vector<std::optional<Quantiles>>& channels,
              const std::optional<ValueEnds>& held);
    void hide();
    /// Chooses boxes or bands for the plot's present width; call after a resize.
    void fit();
    bool isShown() const { return m_isShown; }
    /// True if boxes are drawn, not bands; for tests.
    bool drawsBoxes() const;

private:
    void setLines(const std::optional<ValueEnds>& held);

    QCustomPlot& m_plot;
    QCPStatisticalBox* m_boxes = nullptr;
    QCPGraph* m_bands[5]; ///< 1, 25, 50, 75 and 99 percent
    QCPItemLine* m_held[2];
    std::size_t m_channels = 0;
    bool m_isShown = false;
};

} // namespace qs
