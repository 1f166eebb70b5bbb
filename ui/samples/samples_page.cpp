// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/samples/samples_page.h"

#include "engine/base/text.h"
#include "ui/models/figure_proxy.h"
#include "ui/plots/plot_style.h"
#include "ui/samples/confusion_view.h"
#include "ui/samples/sample_pictures.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/empty_note.h"
#include "ui/style/layout_barrier.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QCheckBox>
#include <QHeaderView>
#include <QKeyEvent>
#include <QStackedWidget>
#include <QStyledItemDelegate>
#include <QTableView>

#include <algorithm>

namespace qs {

namespace {

constexpr double kPicture = 32; ///< side of a picture in pixels at 100 %

/// Asks for the pictures of rows that are painted, and paints them.
class PictureDelegate : public QStyledItemDelegate
{
public:
    PictureDelegate(SamplePictures& pictures, QObject* parent)
        : QStyledItemDelegate(parent)
        , m_pictures(pictures)
    {
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override
    {
        QStyledItemDelegate::paint(painter, option, index);
        QRect frame(0, 0, px(kPicture), px(kPicture));
        frame.moveCenter(option.rect.center());
        const QImage* picture = m_pictures.ask(sampleOf(index));
        if (picture)
            painter->drawImage(frame, *picture);
        painter->setPen(theme().border);
        painter->drawRect(frame.adjusted(0, 0, -1, -1));
    }
    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override
    {
        return {px(kPicture), px(kPicture + 4)};
    }
    bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                   const QModelIndex& index) override
    {
        view->setToolTip(m_pictures.textOf(sampleOf(index)));
        return QStyledItemDelegate::helpEvent(event, view, option, index);
    }

private:
    static std::int64_t sampleOf(const QModelIndex& index)
    {
        return std::int64_t(
            index.siblingAtColumn(SampleTable::SampleColumn).data(Qt::UserRole).toDouble());
    }

    SamplePictures& m_pictures;
};

} // namespace

SamplesPage::SamplesPage(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_samples(new SampleTable(workspace, this))
    , m_pictures(new SamplePictures(workspace, this))
    , m_proxy(new FigureProxy(*m_samples, this))
    , m_stack(new QStackedWidget(this))
{
    setObjectName(QStringLiteral("samplesPage"));
    fillPanel(*this);
    m_empty = new EmptyNote(QStringLiteral("samples"), m_stack);
    m_stack->addWidget(new LayoutBarrier(m_empty, m_stack));
    connect(m_empty, &EmptyNote::stepWanted, this, [this] {
        if (m_samples->state() == SampleTable::State::Uncalibrated)
            Q_EMIT calibrateWanted();
        else
            Q_EMIT compareWanted();
    });
    m_stack->addWidget(buildSamples(m_stack));
    addItems(*makeVBox(this, {12, 6, 12, 6}, 4), {{m_stack, 1}});
    connect(m_samples, &SampleTable::changed, this, &SamplesPage::refresh);
    connect(m_pictures, &SamplePictures::arrived, m_table->viewport(),
            qOverload<>(&QWidget::update));
    connect(m_confusion, &ConfusionView::chosen, this, [this](const ClassPair& cell) {
        setCell(m_cell == cell ? std::nullopt : std::optional(cell));
    });
    connect(m_confusion, &ConfusionView::rowsChanged, this, [this] { setCell(std::nullopt); });
    refresh();
}

QWidget* SamplesPage::buildSamples(QWidget* parent)
{
    auto* halves = makeSplitter("samplesHalves", Qt::Horizontal, parent);
    halves->addWidget(buildList(halves));
    m_confusion = new ConfusionView(halves);
    m_confusion->table().installEventFilter(this);
    halves->addWidget(m_confusion);
    halves->setStretchFactor(0, 3);
    halves->setStretchFactor(1, 2);
    halves->setSizes({px(380), px(270)});
    return halves;
}

QWidget* SamplesPage::buildList(QWidget* parent)
{
    auto* list = new QWidget(parent);
    m_note = new ElidedLabel(QString(), uiFont(11), list);
    m_note->setObjectName(QStringLiteral("samplesNote"));
    m_changed = new QCheckBox(tr("changed only"), list);
    setNames(*m_changed, "samplesChanged", tr("List only samples whose class changed"));
    m_changed->setFont(uiFont(11));
    connect(m_changed, &QCheckBox::toggled, this, &SamplesPage::filter);
    m_all = makeButton("samplesAll", tr("All"), tr("List the samples of all classes (Esc)"), list);
    connect(m_all, &QPushButton::clicked, this, [this] { setCell(std::nullopt); });
    m_again = makeButton("samplesAgain", tr("Compare again"), {}, list);
    connect(m_again, &QPushButton::clicked, this, &SamplesPage::compareWanted);
    for (QPushButton* button : {m_all, m_again})
        button->setFont(uiFont(11));
    m_table = new QTableView(list);
    buildTable();
    auto* top = makeHBox(nullptr, {}, px(6));
    addItems(*top, {{m_note, 1}, m_changed, m_all, m_again});
    addItems(*makeVBox(list, {0, 0, px(6), 0}, 4), {top, {m_table, 1}});
    return list;
}

void SamplesPage::buildTable()
{
    using Table = SampleTable;
    setNames(*m_table, "samplesTable", tr("The samples that lost most"));
    m_table->setModel(m_proxy);
    setUpTable(*m_table, kPicture + 5);
    m_table->setSelectionMode(QAbstractItemView::SingleSelection);
    m_table->setItemDelegateForColumn(Table::PictureColumn,
                                      new PictureDelegate(*m_pictures, m_table));
    m_table->setMinimumHeight(px(44));
    m_table->sortByColumn(Table::ErrorColumn, Qt::AscendingOrder);
    m_table->horizontalHeader()->setMinimumSectionSize(px(20));
    m_table->horizontalHeader()->setStyleSheet(
        QStringLiteral("QHeaderView { background: %1; }").arg(theme().panel.name()));
    static constexpr int kWidths[] = {46, 64, 52, 50, 46, 22, 44};
    for (int column = 0; column < Table::kColumns; ++column)
        m_table->setColumnWidth(column, px(kWidths[column]));
    m_table->installEventFilter(this);
    connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &SamplesPage::takeRow);
}

void SamplesPage::showColumns()
{
    using Table = SampleTable;
    m_table->setColumnHidden(Table::LabelColumn, !m_samples->hasLabels());
    for (const int column : {Table::FloatColumn, Table::ChangeColumn, Table::Int8Column})
        m_table->setColumnHidden(column, !m_samples->hasClasses());
}

void SamplesPage::refresh()
{
    using State = SampleTable::State;
    const State state = m_samples->state();
    m_stack->setCurrentIndex(state == State::Found ? 1 : 0);
    m_empty->tell(m_samples->stateText(),
                  state == State::Uncalibrated     ? tr("Calibrate…")
                      : state == State::Uncompared ? tr("Compare")
                                                   : QString());
    setFocusProxy(state == State::Found ? static_cast<QWidget*>(m_table) : m_empty->button());
    m_pictures->setSource(m_samples->source(), int(px(kPicture) * devicePixelRatioF()));
    const SampleErrorsPtr& errors = m_samples->errors();
    const bool hasClasses = m_samples->hasClasses();
    m_confusion->show(hasClasses ? &*errors->classes : nullptr);
    m_confusion->setVisible(hasClasses);
    m_changed->setVisible(hasClasses);
    m_again->setVisible(m_samples->isStale());
    if (m_cell && m_confusion->countOf(*m_cell) == 0)
        m_cell.reset();
    showColumns();
    filter();
}

void SamplesPage::filter()
{
    const bool onlyChanged = m_changed->isChecked() && m_samples->hasClasses();
    if (!onlyChanged && !m_cell)
        m_proxy->keep({});
    else
        m_proxy->keep([this, onlyChanged](int row) {
            const SampleRecord& record = m_samples->record(row);
            return (!onlyChanged || record.isChanged) && (!m_cell || m_cell->holds(record));
        });
    m_confusion->mark(m_cell);
    m_all->setVisible(m_cell.has_value());
    showNote();
}

void SamplesPage::setCell(const std::optional<ClassPair>& cell)
{
    m_cell = cell;
    filter();
}

void SamplesPage::showNote()
{
    const SampleErrorsPtr& errors = m_samples->errors();
    if (!errors)
        return;
    const int shown = m_proxy->rowCount();
    const auto all = std::int64_t(errors->worst.size());
    QString text;
    if (m_cell) {
        text = (m_cell->isOfLabels ? tr("label %1, int8 %2: %3 of %4 are listed")
                                   : tr("float %1, int8 %2: %3 of %4 are listed"))
                   .arg(m_cell->row)
                   .arg(m_cell->int8Class)
                   .arg(shown)
                   .arg(m_confusion->countOf(*m_cell));
    } else if (m_changed->isChecked() && errors->classes) {
        const PairCounts& counts = errors->classes->floatInt8;
        text = tr("%1 of %2 changed samples are listed")
                   .arg(shown)
                   .arg(totalOf(counts) - equalIn(counts) + errors->classes->notANumber);
    } else {
        const auto most = std::min(all, std::int64_t(SampleErrors::kMost));
        text = tr("%1 worst of %2")
                   .arg(most)
                   .arg(toQString(counted(m_samples->samples(), "sample")));
        if (all > most)
            text += tr(", %1 more changed").arg(all - most);
        text += tr(" · output %1").arg(toQString(errors->output));
    }
    const QString remark = m_samples->remark();
    m_note->setColor(m_samples->isStale() ? theme().warning : theme().muted);
    m_note->setText(remark.isEmpty() ? text : tr("%1 · %2").arg(remark, text));
    m_again->setToolTip(tr("%1: compare again").arg(remark));
}

void SamplesPage::takeRow()
{
    const QModelIndexList rows = m_table->selectionModel()->selectedRows();
    if (rows.isEmpty() || !m_samples->isOfDocument())
        return;
    Q_EMIT sampleChosen(int(m_samples->record(m_proxy->mapToSource(rows.front()).row()).index));
}

bool SamplesPage::eventFilter(QObject* watched, QEvent* event)
{
    const bool isKey
        = event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride;
    if (!isKey || !m_cell || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape)
        return QWidget::eventFilter(watched, event);
    if (event->type() == QEvent::ShortcutOverride)
        event->accept(); // Esc ends the filter, not the selection of nodes
    else
        setCell(std::nullopt);
    return true;
}

} // namespace qs
