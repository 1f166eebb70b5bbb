// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/style/colour_box.h"

#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QStandardItemModel>

#include <algorithm>

namespace qs {

ColourBox::ColourBox(QWidget* parent)
    : QComboBox(parent)
{
    setNames(*this, "colourBy", tr("Colour by"), tr("What the colours of the graph mean"));
    for (int by = 0; by < kColourByCount; ++by)
        addItem(tr("Colour by: %1").arg(colourByText(ColourBy(by))));
    setMaxVisibleItems(kColourByCount);
    setFont(uiFont(11.5));
    fitTo(0);
    setStyleSheet(QStringLiteral("QComboBox { background: %1; padding: 4px 10px; }")
                      .arg(theme().panel.name()));
    connect(this, &QComboBox::activated, this,
            [this](int index) { Q_EMIT chosen(ColourBy(index)); });
    offerImported(false);
}

void ColourBox::fitTo(int room)
{
    const int usual = px(200);
    const int wanted = fontMetrics().horizontalAdvance(currentText()) + px(54); // its arrow
    setFixedWidth(std::clamp(wanted, usual, std::max(usual, room)));
}

void ColourBox::offerImported(bool offered)
{
    if (auto* items = qobject_cast<QStandardItemModel*>(model()))
        items->item(int(ColourBy::Imported))->setEnabled(offered);
}

} // namespace qs
