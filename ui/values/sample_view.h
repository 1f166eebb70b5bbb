// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/values/value_inspection.h"
#endif

#include <QWidget>

#include <array>

namespace qs {

class HeatMap;

/// One plane of a sample's value in the float and in the converted model, on a common colour scale,
/// and their difference on a symmetric one; or an image of its channels. A one-dimensional value is
/// wrapped into lines. The three maps zoom and move together. GUI thread only.
class SampleView : public QWidget
{
    Q_OBJECT

public:
    explicit SampleView(QWidget* parent);

    /// Shows values; null: none. `plane`: index among all planes; a plane that `values` lacks shows
    /// nothing. `isFaded`: the values are older than the decisions.
    void show(const SampleValuesPtr& values, std::int64_t plane, bool asImage, bool isFaded);
    /// True if a value can be an image: one or three channels before rows and columns.
    static bool isImage(const SampleValues& values);

    HeatMap& floating() { return *m_maps[0]; }
    HeatMap& converted() { return *m_maps[1]; }
    HeatMap& difference() { return *m_maps[2]; }

Q_SIGNALS:
    /// Text for the cell under the pointer: position, both values and their difference; empty
    /// without a cell.
    void pointed(const QString& text);

private:
    void point(const QPoint& cell);
    void showPlane(std::size_t at);
    void showImage();
    QString placeText(const QPoint& cell) const;

    std::array<HeatMap*, 3> m_maps;
    SampleValuesPtr m_values;
    std::int64_t m_plane = 0;
    bool m_asImage = false;
    int m_columns = 0; ///< of the maps; fewer than the value's if it is wrapped
};

} // namespace qs
