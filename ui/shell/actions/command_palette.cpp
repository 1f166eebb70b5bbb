// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/actions/command_palette.h"

#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QApplication>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QStyledItemDelegate>

#include <algorithm>

namespace qs {

namespace {

constexpr int kPaletteWidth = 620, kPaletteRows = 12, kPaletteRow = 28;
/// Top of the palette: below menu and tool bar.
constexpr int kPaletteTop = 100;

/// Paints name (left), shortcut (right), and the description between them if there is room.
class PaletteDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override
    {
        return {100, px(kPaletteRow)};
    }

    void paint(QPainter* p, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override
    {
        const Theme& t = theme();
        p->save();
        if (option.state & QStyle::State_Selected)
            p->fillRect(option.rect, t.accentSoft);
        const bool enabled = index.flags() & Qt::ItemIsEnabled;
        QRect room = option.rect.adjusted(12, 0, -12, 0);
        const QString keys = index.data(PaletteModel::KeysRole).toString();
        if (!keys.isEmpty()) {
            p->setFont(monoFont(11));
            p->setPen(t.muted);
            p->drawText(room, Qt::AlignRight | Qt::AlignVCenter, keys);
            room.setRight(room.right() - p->fontMetrics().horizontalAdvance(keys) - 14);
        }
        p->setFont(uiFont(12.5));
        p->setPen(enabled ? t.text : t.faint);
        const QString text
            = p->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, room.width());
        p->drawText(room, Qt::AlignLeft | Qt::AlignVCenter, text);
        room.setLeft(room.left() + p->fontMetrics().horizontalAdvance(text) + 12);
        p->setFont(uiFont(11.5));
        p->setPen(enabled ? t.muted : t.faint);
        if (room.width() > 60)
            p->drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                        p->fontMetrics().elidedText(index.data(PaletteModel::DetailRole).toString(),
                                                    Qt::ElideRight, room.width()));
        p->restore();
    }
};

} // namespace

CommandPalette::CommandPalette(QWidget* window)
    : QFrame(window)
    , m_model(new PaletteModel(this))
    , m_field(new QLineEdit(this))
    , m_list(new QListView(this))
{
    setObjectName(QStringLiteral("commandPalette"));
    setAttribute(Qt::WA_StyledBackground);
    setStyleSheet(QStringLiteral("QFrame#commandPalette { background: %1; border: 1px solid %2; "
                                 "border-radius: 8px; }")
                      .arg(theme().panel.name(), theme().faint.name()));
    setNames(*m_field, "paletteField", tr("Command"));
    m_field->setFont(uiFont(13));
    m_field->setMinimumHeight(px(32));
    setNames(*m_list, "paletteList", tr("Commands"));
    m_list->setModel(m_model);
    m_list->setItemDelegate(new PaletteDelegate(m_list));
    m_list->setUniformItemSizes(true);
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    addItems(*makeVBox(this, {10, 10, 10, 10}, 8), {m_field, {m_list, 1}});
    hide();
    m_field->installEventFilter(this);
    window->installEventFilter(this);
    connect(m_field, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_model->setPattern(text);
        m_list->setCurrentIndex(m_model->index(0));
        place();
    });
    connect(m_list, &QListView::clicked, this, &CommandPalette::runCurrent);
}

void CommandPalette::open(const QString& prompt, std::vector<PaletteItem> items)
{
    if (!isVisible())
        m_before = QApplication::focusWidget();
    m_field->clear();
    m_field->setPlaceholderText(prompt);
    m_model->setItems(std::move(items));
    m_list->setCurrentIndex(m_model->index(0));
    place();
    show();
    raise();
    m_field->setFocus();
}

void CommandPalette::place()
{
    const int width = std::min(px(kPaletteWidth), parentWidget()->width() - 40);
    const int rows = std::clamp(m_model->rowCount(), 1, kPaletteRows);
    const int height = 10 + m_field->sizeHint().height() + 8 + rows * px(kPaletteRow) + 14;
    setGeometry((parentWidget()->width() - width) / 2, px(kPaletteTop), width,
                std::max(height, 80));
}

void CommandPalette::leave()
{
    hide();
    if (m_before)
        m_before->setFocus();
}

void CommandPalette::runCurrent()
{
    const auto index = m_list->currentIndex();
    if (!index.isValid() || !m_model->item(index.row()).enabled)
        return;
    // The command may reopen the palette: copy it, and use no state after it.
    const auto run = m_model->item(index.row()).run;
    leave();
    run();
}

bool CommandPalette::handleKey(int key)
{
    const int rows = m_model->rowCount();
    const int row = m_list->currentIndex().row();
    const auto go = [&](int to) {
        if (rows > 0)
            m_list->setCurrentIndex(m_model->index(std::clamp(to, 0, rows - 1)));
    };
    switch (key) {
    case Qt::Key_Down:
        go(row + 1 == rows ? 0 : row + 1);
        return true;
    case Qt::Key_Up:
        go(row <= 0 ? rows - 1 : row - 1);
        return true;
    case Qt::Key_PageDown:
        go(row + kPaletteRows);
        return true;
    case Qt::Key_PageUp:
        go(row - kPaletteRows);
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        runCurrent();
        return true;
    case Qt::Key_Escape:
        leave();
        return true;
    default:
        return false;
    }
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == parentWidget() && event->type() == QEvent::Resize && isVisible())
        place();
    if (watched != m_field)
        return QFrame::eventFilter(watched, event);
    if (event->type() == QEvent::FocusOut && isVisible()
        && static_cast<QFocusEvent*>(event)->reason() != Qt::ActiveWindowFocusReason)
        hide();
    if (event->type() == QEvent::ShortcutOverride
        && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        event->accept(); // prevents the window's Escape, which clears the selection
        return true;
    }
    if (event->type() == QEvent::KeyPress)
        return handleKey(static_cast<QKeyEvent*>(event)->key());
    return QFrame::eventFilter(watched, event);
}

} // namespace qs
