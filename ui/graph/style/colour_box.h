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
    /// As wide as its words, but no wider than the room, and no narrower than usual.
    void fitTo(int room);
    /// Imported data can be chosen once there are some.
    void offerImported(bool offered);

Q_SIGNALS:
    /// By the user.
    void chosen(qs::ColourBy by);
};

} // namespace qs
