// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/samples/confusion_view.h"

#include "ui/samples/confusion_model.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QComboBox>
#include <QHeaderView>
#include <QKeyEvent>
#include <QSignalBlocker>
#include <QStyledItemDelegate>
#include <QTableView>

#include <algorithm>

namespace qs {

namespace {

constexpr double kLeastCell = 22; ///< pixels of a column at 100 %

/// Fills cells off the diagonal by their count and frames the chosen one.
class CountDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    std::optional<std::pair<int, int>> marked; ///< row, column

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override
    {
        const QRect cell = option.rect.adjusted(0, 0, -1, -1);
        const QVariant share = index.data(ConfusionModel::kShareRole);
        const QString text = index.data().toString();
        const QColor fill = share.isValid() ? cividis(share.toDouble())
            : text.isEmpty()                ? theme().canvas
                                            : theme().accentSoft;
        painter->fillRect(cell, fill);
        painter->setFont(option.font);
        painter->setPen(share.isValid() ? textOn(fill) : theme().text);
        painter->drawText(cell, Qt::AlignCenter, text);
        const bool isMarked = marked == std::pair(index.row(), index.column());
        const bool isCurrent
            = (option.state & QStyle::State_HasFocus) && (option.state & QStyle::State_Active);
        if (isMarked || isCurrent) {
            painter->setPen(QPen(theme().accent, isMarked ? 3 : 1));
            painter->drawRect(cell.adjusted(1, 1, -1, -1));
        }
    }
};

} // namespace

ConfusionView::ConfusionView(QWidget* parent)
    : QWidget(parent)
    , m_model(new ConfusionModel(this))
{
    m_kind = new QComboBox(this);
    setNames(*m_kind, "confusionRows", tr("Rows of the confusion matrix"),
             tr("Rows: the float model's class, or the label. Columns: the int8 model's class"));
    m_kind->addItems({tr("float by int8"), tr("label by int8")});
    m_kind->setFont(uiFont(11));
    m_note = new ElidedLabel(QString(), uiFont(11), this);
    m_note->setObjectName(QStringLiteral("confusionNote"));
    m_note->setColor(theme().muted);
    m_table = new QTableView(this);
    setNames(*m_table, "confusionTable", tr("Confusion matrix: samples by two classes"));
    m_table->setModel(m_model);
    m_table->setItemDelegate(new CountDelegate(m_table));
    m_table->setFont(monoFont(10.5));
    m_table->setFrameShape(QFrame::NoFrame);
    m_table->setShowGrid(false);
    m_table->setTabKeyNavigation(false);
    m_table->setSelectionMode(QAbstractItemView::NoSelection);
    m_table->setCornerButtonEnabled(false);
    m_table->setMinimumHeight(px(44));
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    for (QHeaderView* head : {m_table->horizontalHeader(), m_table->verticalHeader()}) {
        head->setFont(uiFont(10.5));
        head->setStyleSheet(
            QStringLiteral(
                "QHeaderView { background: %1; } QHeaderView::section { padding: 2px 0 0 0; }")
                .arg(theme().panel.name()));
        head->setSectionResizeMode(QHeaderView::Fixed);
        head->setHighlightSections(false);
        head->setMinimumSectionSize(px(14));
        head->setSectionsClickable(false);
        head->setDefaultSectionSize(px(head->orientation() == Qt::Vertical ? 19 : kLeastCell));
    }
    m_table->installEventFilter(this);
    auto* top = makeHBox(nullptr, {}, px(6));
    addItems(*top, {m_kind, {m_note, 1}});
    addItems(*makeVBox(this, {}, 4), {top, {m_table, 1}});
    connect(m_table, &QTableView::clicked, this, &ConfusionView::choose);
    connect(m_kind, &QComboBox::currentIndexChanged, this, [this] {
        refresh();
        Q_EMIT rowsChanged();
    });
}

void ConfusionView::show(const ClassCounts* counts)
{
    m_counts = counts ? std::optional(*counts) : std::nullopt;
    const bool hasLabels = counts && !counts->labelInt8.empty();
    m_kind->setEnabled(hasLabels);
    if (!hasLabels) {
        const QSignalBlocker quiet(m_kind);
        m_kind->setCurrentIndex(0);
    }
    refresh();
}

void ConfusionView::refresh()
{
    m_model->show(m_counts ? &*m_counts : nullptr, m_kind->currentIndex() == 1);
    m_note->setText(m_model->note());
    int digits = 1;
    for (int row = 0; row < m_model->rowCount(); ++row)
        for (int column = 0; column < m_model->columnCount(); ++column)
            digits = std::max(digits, int(QString::number(m_model->count(row, column)).size()));
    for (int column = 0; column < m_model->columnCount(); ++column)
        digits = std::max(digits, int(QString::number(m_model->columnClass(column)).size()));
    const QFontMetrics metrics(m_table->font());
    m_table->horizontalHeader()->setDefaultSectionSize(
        std::max(px(kLeastCell), metrics.horizontalAdvance(QLatin1Char('0')) * digits + px(8)));
}

void ConfusionView::mark(const std::optional<ClassPair>& cell)
{
    auto& delegate = static_cast<CountDelegate&>(*m_table->itemDelegate());
    delegate.marked.reset();
    for (int row = 0; cell && row < m_model->rowCount(); ++row)
        for (int column = 0; column < m_model->columnCount(); ++column)
            if (cell->isOfLabels == m_model->isOfLabels() && m_model->rowClass(row) == cell->row
                && m_model->columnClass(column) == cell->int8Class)
                delegate.marked = std::pair(row, column);
    m_table->viewport()->update();
}

std::int64_t ConfusionView::countOf(const ClassPair& cell) const
{
    if (!m_counts)
        return 0;
    const PairCounts& counts = cell.isOfLabels ? m_counts->labelInt8 : m_counts->floatInt8;
    const auto row = counts.find(cell.row);
    if (row == counts.end())
        return 0;
    const auto found = row->second.find(cell.int8Class);
    return found == row->second.end() ? 0 : found->second;
}

void ConfusionView::choose(const QModelIndex& cell)
{
    if (cell.isValid() && m_model->count(cell.row(), cell.column()) > 0)
        Q_EMIT chosen({m_model->isOfLabels(), m_model->rowClass(cell.row()),
                       m_model->columnClass(cell.column())});
}

bool ConfusionView::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_table || event->type() != QEvent::KeyPress)
        return QWidget::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key != Qt::Key_Space && key != Qt::Key_Return && key != Qt::Key_Enter)
        return QWidget::eventFilter(watched, event);
    choose(m_table->currentIndex());
    return true;
}

} // namespace qs
