// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/style/colour_by.h"

#include <QComboBox>

namespace qs {

/// Chooses the meaning of the graph's colours. GUI thread only.
class ColourBox : public QComboBox
{
    Q_OBJECT

public:
    explicit ColourBox(QWidget* parent);
    void setColourBy(ColourBy by) { setCurrentIndex(int(by)); }
    /// Sets the width to that of the text, at most `room` and at least the usual width.
    void fitTo(int room);
    /// Enables or disables the choice of imported data.
    void offerImported(bool offered);

Q_SIGNALS:
    /// The user chose.
    void chosen(qs::ColourBy by);
};

} // namespace qs
