// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/bars/panel_buttons.h"

#include "ui/frame/actions.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QAbstractButton>
#include <QAction>
#include <QPainter>

namespace qs {

namespace {

/// Draws a small window; the panel's part is filled while the panel is shown.
class PanelButton : public QAbstractButton
{
public:
    PanelButton(QAction& action, QRectF part, QWidget* parent)
        : QAbstractButton(parent)
        , m_part(part)
    {
        setObjectName(QStringLiteral("toggle_%1").arg(action.objectName()));
        setAccessibleName(action.toolTip());
        setToolTip(QStringLiteral("%1 (%2)").arg(
            action.toolTip(), action.shortcut().toString(QKeySequence::NativeText)));
        setCheckable(true);
        setChecked(action.isChecked());
        setFocusPolicy(Qt::TabFocus);
        setCursor(Qt::PointingHandCursor);
        setFixedSize(px(26), px(22));
        connect(this, &QAbstractButton::clicked, &action, &QAction::setChecked);
        connect(&action, &QAction::toggled, this, &QAbstractButton::setChecked);
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter p(this);
        p.setRenderHint(QPainter::Antialiasing, true);
        const QRectF frame((width() - px(16)) / 2.0 + 0.5, (height() - px(12)) / 2.0 + 0.5, px(16),
                           px(12));
        const QColor ink = underMouse() ? theme().accent : theme().muted;
        p.setPen(QPen(ink, 1.2));
        p.drawRoundedRect(frame, 2, 2);
        const QRectF part(frame.left() + m_part.left() * frame.width(),
                          frame.top() + m_part.top() * frame.height(),
                          m_part.width() * frame.width(), m_part.height() * frame.height());
        p.setBrush(isChecked() ? QBrush(ink) : QBrush(Qt::NoBrush));
        p.drawRect(part);
    }
    void enterEvent(QEnterEvent*) override { update(); }
    void leaveEvent(QEvent*) override { update(); }

private:
    QRectF m_part; ///< the panel's part of the window, 0 to 1
};

} // namespace

PanelButtons::PanelButtons(Actions& actions, QWidget* parent)
    : QWidget(parent)
{
    setObjectName(QStringLiteral("panelButtons"));
    addItems(*makeHBox(this, {}, 2),
             {new PanelButton(actions[ActionId::ShowModules], {0, 0, 0.3, 1}, this),
              new PanelButton(actions[ActionId::ShowBottom], {0, 0.62, 1, 0.38}, this),
              new PanelButton(actions[ActionId::ShowProperties], {0.7, 0, 0.3, 1}, this)});
}

} // namespace qs
