// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/guide_panel.h"

#include "ui/session/coalesce.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QAbstractButton>
#include <QAction>
#include <QLabel>
#include <QPainter>
#include <QToolButton>

#include <algorithm>
#include <utility>

namespace qs {

/// The row of a step, with its tick and its shortcut.
class GuideRow : public QAbstractButton
{
public:
    GuideRow(const GuideStep& step, QWidget* parent)
        : QAbstractButton(parent)
        , m_keys(step.action->shortcut().toString(QKeySequence::NativeText))
    {
        setText(step.text);
        setObjectName(QStringLiteral("guide_%1").arg(step.action->objectName()));
        setAccessibleName(step.text);
        setToolTip(step.action->toolTip());
        setCursor(Qt::PointingHandCursor);
        setFocusPolicy(Qt::TabFocus);
        setFixedHeight(px(22));
    }

    void setState(bool done, bool next)
    {
        m_done = done;
        m_next = next;
        setAccessibleDescription(done ? QObject::tr("done") : QObject::tr("to do"));
        update();
    }
    bool isDone() const { return m_done; }

protected:
    void paintEvent(QPaintEvent*) override
    {
        const Theme& t = theme();
        QPainter p(this);
        p.setRenderHint(QPainter::Antialiasing, true);
        if (underMouse() || hasFocus())
            p.fillRect(rect(), t.window);
        const QRectF dot(17.5, (height() - 9) / 2.0, 9, 9);
        p.setPen(QPen(m_done ? t.accent : m_next ? t.accent : t.faint, 1.4));
        p.setBrush(m_done ? QBrush(t.accent) : QBrush(Qt::NoBrush));
        p.drawEllipse(dot);
        if (m_done) {
            p.setPen(QPen(t.accentText, 1.4));
            const double y = dot.center().y();
            p.drawPolyline(
                QPolygonF({QPointF(19.6, y + 0.2), QPointF(21.4, y + 2), QPointF(24.6, y - 2)}));
        }
        p.setFont(monoFont(10.5));
        p.setPen(t.muted);
        p.drawText(rect().adjusted(0, 0, -12, 0), Qt::AlignRight | Qt::AlignVCenter, m_keys);
        p.setFont(uiFont(12, m_next ? 600 : 400));
        p.setPen(m_done ? t.muted : t.text);
        const QRect words = rect().adjusted(34, 0, -px(70), 0);
        p.drawText(words, Qt::AlignLeft | Qt::AlignVCenter,
                   p.fontMetrics().elidedText(text(), Qt::ElideRight, words.width()));
    }
    void enterEvent(QEnterEvent*) override { update(); }
    void leaveEvent(QEvent*) override { update(); }

private:
    QString m_keys;
    bool m_done = false, m_next = false;
};

GuidePanel::GuidePanel(Workspace& workspace, std::vector<GuideStep> steps, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_steps(std::move(steps))
    , m_title(new QLabel(this))
{
    setNames(*this, "guidePanel", tr("First steps"));
    m_title->setFont(uiFont(12.5, 600));
    auto* close = new QToolButton(this);
    setNames(*close, "guideClose", tr("Hide the first steps"),
             tr("Hide; Help > First steps shows them again"));
    close->setText(QStringLiteral("✕"));
    close->setAutoRaise(true);
    auto* top = makeHBox(nullptr, {14, 4, 6, 0});
    addItems(*top, {{m_title, 1}, close});
    auto* column = makeVBox(this, {0, 0, 0, 8}, 0);
    column->addLayout(top);
    for (const auto& step : m_steps) {
        auto* row = new GuideRow(step, this);
        connect(row, &QAbstractButton::clicked, step.action, &QAction::trigger);
        column->addWidget(row);
        m_rows.push_back(row);
    }
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    const auto later = coalesced(this, [this] { refresh(); });
    connect(close, &QToolButton::clicked, this, &GuidePanel::closeWanted);
    connect(&workspace, &Workspace::factsChanged, this, later);
    connect(&workspace.document(), &Document::recipeChanged, this, later);
    connect(&workspace.undoStack(), &QUndoStack::indexChanged, this, later);
    refresh();
}

void GuidePanel::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.fillRect(rect(), theme().panel);
    p.fillRect(0, 0, width(), 1, theme().border);
}

int GuidePanel::doneCount() const
{
    return int(std::count_if(m_rows.begin(), m_rows.end(),
                             [](const GuideRow* row) { return row->isDone(); }));
}

void GuidePanel::refresh()
{
    bool first = true;
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        const bool done = m_steps[i].isDone(m_workspace);
        m_rows[i]->setState(done, !done && first);
        first &= done;
    }
    const int before = std::exchange(m_done, doneCount());
    m_title->setText(tr("First steps  %1 of %2").arg(m_done).arg(m_rows.size()));
    if (m_done > before && m_done == int(m_rows.size()))
        Q_EMIT completed();
}

} // namespace qs
