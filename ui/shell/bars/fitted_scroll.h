// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QEvent>
#include <QScrollArea>

namespace qs {

/// A scroll area that is as tall as its content if there is room.
class FittedScroll : public QScrollArea
{
public:
    explicit FittedScroll(QWidget* parent)
        : QScrollArea(parent)
    {
        setNames(*this, "leftScroll", QObject::tr("Verdicts and first steps"));
        setWidgetResizable(true);
        setFrameShape(QFrame::NoFrame);
        setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
        setFocusPolicy(Qt::NoFocus);
        setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    }
    QSize sizeHint() const override { return widget() ? widget()->sizeHint() : QSize(); }
    QSize minimumSizeHint() const override { return {0, px(40)}; }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (watched == widget() && event->type() == QEvent::LayoutRequest)
            updateGeometry();
        return QScrollArea::eventFilter(watched, event);
    }
};

} // namespace qs
