// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/cards/alternatives_card.h"

#include "engine/convert/ranges/choose_qparams.h"
#include "engine/convert/ranges/storage_range.h"
#include "engine/convert/ranges/value_noise.h"
#include "ui/plots/range_trial.h"
#include "ui/session/decisions/trained_ranges.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QHeaderView>
#include <QPainter>
#include <QSignalBlocker>
#include <QToolButton>
#include <QTreeWidget>

#include <algorithm>
#include <memory>

namespace qs {

namespace {

enum AlternativeColumn : int
{
    WayColumn,
    DbColumn,
    GainColumn,
    UseColumn
};

constexpr int kTargetRole = Qt::UserRole, kNameRole = Qt::UserRole + 1;
constexpr int kShownAlternatives = 13;

/// Returns "≈ 41.2", or "41.2" if the figure is exact.
QString dbText(const Alternative& one)
{
    if (!one.sqnrDb)
        return one.qparams.scale.empty() ? QObject::tr("no loss") : QStringLiteral("–");
    return (one.exactError ? QString() : QStringLiteral("≈ ")) + shownSqnr(*one.sqnrDb, "");
}

/// Returns "mse" for "histogram, mse": the column is narrow.
QString shortWay(const std::string& name)
{
    QString text = toQString(name).section(QStringLiteral(", "), -1);
    return text.replace(QStringLiteral("moving_average_minmax"), QObject::tr("moving average"));
}

/// Returns the alternative of a fixed range, which needs no calibration; nothing for other
/// observers.
std::optional<Alternative> fixedRange(const ObserverSpec& spec, const ObserverStats& stats)
{
    const Histogram* counted = shownHistogram(&stats);
    if (spec.kind != ObserverKind::FixedQParams || counted->empty())
        return std::nullopt;
    Alternative one;
    one.name = QObject::tr("fixed range").toStdString();
    one.spec = spec;
    ObserverStats fixed;
    fixed.spec = spec;
    one.qparams = chooseQParams(fixed);
    if (const auto noise = valueNoise(*counted, one.qparams, storageRange(spec.dtype)))
        one.sqnrDb = noise->sqnrDb();
    one.exactParameters = true;
    return one;
}

QString tipText(const Alternative& one)
{
    if (one.qparams.scale.empty())
        return QObject::tr("Kept in float");
    QString text
        = QStringLiteral("%1 · %2 · %3…%4\n")
              .arg(toQString(dtypeName(one.spec.dtype)), toQString(qschemeName(one.spec.qscheme)))
              .arg(one.qparams.quantMin)
              .arg(one.qparams.quantMax);
    if (one.qparams.scale.size() == 1)
        text += QObject::tr("scale %1, zero point %2\n")
                    .arg(double(one.qparams.scale.front()), 0, 'g', 6)
                    .arg(one.qparams.zeroPoint.front());
    text += one.exactParameters
        ? QObject::tr("Parameters: exact, as a calibration would choose them\n")
        : QObject::tr("Parameters: estimated from the histogram\n");
    return text
        + (one.exactError ? QObject::tr("SQNR: exact, from the values")
                          : QObject::tr("SQNR: estimated from the histogram"));
}

/// Covers the rows of the previous selection. Hiding the rows themselves would be slower.
class WaitCover : public QWidget
{
public:
    explicit WaitCover(QWidget* parent)
        : QWidget(parent)
    {
        setAttribute(Qt::WA_OpaquePaintEvent);
        setNames(*this, "alternativesWait", words());
        hide();
    }

protected:
    void paintEvent(QPaintEvent*) override
    {
        QPainter p(this);
        p.fillRect(rect(), theme().panel);
        p.setFont(uiFont(11.5));
        p.setPen(theme().muted);
        p.drawText(rect(), Qt::AlignLeft | Qt::AlignTop, words());
    }

private:
    static QString words() { return QObject::tr("working out…"); }
};

/// Returns the width of the widest text in the font, with a cell's margins.
int widthOf(const QFont& font, const QStringList& texts)
{
    int widest = 0;
    for (const QString& text : texts)
        widest = std::max(widest, QFontMetrics(font).horizontalAdvance(text));
    return widest + px(10);
}

} // namespace

AlternativesCard::AlternativesCard(Workspace& workspace, QWidget* parent)
    : Card(tr("Alternatives"), parent)
    , m_workspace(workspace)
    , m_tree(new QTreeWidget(this))
    , m_wait(new WaitCover(m_tree))
{
    setNames(*m_tree, "alternativesTree", tr("Other ways to quantize"));
    m_tree->setColumnCount(4);
    m_tree->setHeaderLabels({tr("quantized by"), QStringLiteral("dB"), tr("gain"), QString()});
    const QString tips[]
        = {tr("Another observer, width or scheme"),
           tr("Signal to quantization noise of this value alone; ≈ is an estimate"),
           tr("Against how it is quantized now"), tr("Takes the alternative; can be undone")};
    for (int column = 0; column < 4; ++column)
        m_tree->headerItem()->setToolTip(column, tips[column]);
    for (const int column : {DbColumn, GainColumn})
        m_tree->headerItem()->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    m_tree->setFont(monoFont(10.5));
    m_tree->setRootIsDecorated(false);
    m_tree->setIndentation(0);
    m_tree->setUniformRowHeights(true); // else each change of a text measures its row
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_tree->setStyleSheet(
        QStringLiteral("QHeaderView::section, QHeaderView::section:first { color: %1; "
                       "padding: 3px 4px; }")
            .arg(theme().muted.name()));
    m_tree->header()->setFont(uiFont(11));
    m_tree->header()->setMinimumSectionSize(px(24));
    fitColumns();
    layout()->addWidget(m_tree);
    connect(m_tree, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* row) { take(row); });
}

/// Sets fixed column widths: columns that follow their contents measure every row at each layout.
void AlternativesCard::fitColumns()
{
    QHeaderView& header = *m_tree->header();
    header.setSectionResizeMode(QHeaderView::Fixed);
    header.setSectionResizeMode(WayColumn, QHeaderView::Stretch);
    header.setStretchLastSection(false);
    const QString widest = QStringLiteral("188.8");
    const QStringList titles {m_tree->headerItem()->text(DbColumn),
                              m_tree->headerItem()->text(GainColumn)};
    QFont bold = m_tree->font();
    bold.setWeight(QFont::DemiBold);
    header.resizeSection(DbColumn,
                         std::max(widthOf(bold, {QStringLiteral("≈ ") + widest, tr("no loss")}),
                                  widthOf(header.font(), {titles[0]})));
    header.resizeSection(GainColumn,
                         std::max(widthOf(bold, {QStringLiteral("+") + widest, tr("now")}),
                                  widthOf(header.font(), {titles[1]})));
    const std::unique_ptr<QToolButton> use(newUse());
    use->setText(tr("Use"));
    use->ensurePolished();
    header.resizeSection(UseColumn, use->sizeHint().width());
}

void AlternativesCard::refresh()
{
    m_waiting = false;
    if (m_tree->currentItem())
        m_tree->setCurrentItem(nullptr);
    m_targets.clear();
    std::vector<Row> rows;
    const auto& selection = m_workspace.selection();
    const auto& facts = m_workspace.facts();
    const NodeId node = selection.current();
    const auto edge = inspectedEdge(m_workspace);
    if (edge)
        addSection(rows, selection.edge() ? QString() : edgeText(facts, *edge),
                   observerOnEdge(m_workspace, *edge), {SpecTarget::Kind::Edge, *edge, {}});
    if (node && !selection.isModule() && !selection.edge()) {
        const ObserverId output = facts.outputObserver(node), weight = facts.weightObserver(node);
        addSection(rows, weight ? tr("output") : QString(), output,
                   {SpecTarget::Kind::Value, {}, facts.last(node)});
        addSection(rows, output ? tr("weight") : QString(), weight,
                   {SpecTarget::Kind::Weight, {}, node});
    }
    setVisible(m_waiting || !rows.empty());
    if (!m_waiting)
        showRows(rows);
    m_wait->setVisible(m_waiting);
    if (m_rowHeight == 0 || !m_tree->isVisible()) { // the style is final once visible
        m_rowHeight = std::max(m_tree->sizeHintForRow(0), px(18));
        m_headHeight = m_tree->header()->sizeHint().height();
    }
    // While waiting, keep the height of the last answer with as many sections.
    int& count = m_rowCounts[m_targets.size()];
    if (!m_waiting)
        count = std::min(int(rows.size()), kShownAlternatives);
    m_tree->setFixedHeight(m_headHeight + m_rowHeight * std::max(count, 1) + 4);
    m_wait->setGeometry(0, 0, QWIDGETSIZE_MAX, m_tree->height()); // the tree clips it
}

void AlternativesCard::addSection(std::vector<Row>& rows, const QString& title, ObserverId observer,
                                  const SpecTarget& target)
{
    if (!observer)
        return;
    const std::vector<Alternative>* found = m_workspace.alternatives().ask(observer);
    if (found && found->empty())
        return;
    m_targets.push_back(target);
    m_waiting |= !found;
    if (!found)
        return;
    if (!title.isEmpty())
        rows.push_back({.way = title, .isTitle = true});
    // The current decision may be newer than the calibration.
    const PlannedObserver* planned = m_workspace.facts().observer(observer);
    const auto taken = std::find_if(found->begin(), found->end(), [&](const Alternative& one) {
        return planned && one.spec == planned->spec;
    });
    const Alternative* now = taken != found->end() ? &*taken : nullptr;
    std::optional<Alternative> fixed;
    if (const ObserverStats* stats = m_workspace.facts().stats(observer); !now && planned && stats)
        fixed = fixedRange(planned->spec, *stats);
    if (fixed) {
        now = &*fixed;
        rows.push_back(choiceRow(*fixed, now));
    }
    for (const Alternative& one : *found)
        rows.push_back(choiceRow(one, now));
    if (!hasTrainedRange(m_workspace.facts(), planned))
        return;
    // The scheme is the observer's, but the range comes from the file.
    for (Row& row : rows)
        if (row.isNow && row.target == int(m_targets.size()) - 1)
            row.way = tr("from training");
}

AlternativesCard::Row AlternativesCard::choiceRow(const Alternative& one,
                                                  const Alternative* now) const
{
    Row row {.way = shortWay(one.name),
             .db = dbText(one),
             .tip = tipText(one),
             .name = toQString(one.name),
             .target = int(m_targets.size()) - 1,
             .isNow = &one == now};
    if (row.isNow) {
        row.gain = tr("now");
    } else if (now && now->sqnrDb && one.sqnrDb) {
        const double gain = *one.sqnrDb - *now->sqnrDb;
        const QString sign = std::abs(gain) < 0.05 ? QString()
            : gain < 0                             ? QStringLiteral("−")
                                                   : QStringLiteral("+");
        row.gain = sign + QString::number(std::abs(gain), 'f', 1);
    }
    return row;
}

/// Reuses rows and their buttons, and fills only rows that differ. Blocks the model's signals
/// meanwhile, because each changed cell would lay out the tree.
void AlternativesCard::showRows(const std::vector<Row>& rows)
{
    while (m_tree->topLevelItemCount() < int(rows.size()))
        appendRow();
    const int count = m_tree->topLevelItemCount();
    int first = count, last = -1;
    {
        const QSignalBlocker blocker(m_tree->model());
        for (int i = 0; i < count; ++i) {
            const Row row = i < int(rows.size()) ? rows[std::size_t(i)] : Row();
            if (row == m_shown[std::size_t(i)])
                continue;
            fillRow(*m_tree->topLevelItem(i), row);
            m_shown[std::size_t(i)] = row;
            first = std::min(first, i);
            last = i;
        }
    }
    QAbstractItemModel& model = *m_tree->model();
    if (last >= 0)
        Q_EMIT model.dataChanged(model.index(first, WayColumn), model.index(last, UseColumn));
    for (int i = 0; i < count; ++i)
        if (QTreeWidgetItem& row = *m_tree->topLevelItem(i);
            row.isHidden() != (i >= int(rows.size())))
            row.setHidden(i >= int(rows.size()));
}

QToolButton* AlternativesCard::newUse()
{
    auto* use = new QToolButton(m_tree);
    use->setFont(uiFont(10.5));
    use->setAutoRaise(true);
    use->setFocusPolicy(Qt::NoFocus); // Enter on the row does the same
    return use;
}

void AlternativesCard::appendRow()
{
    auto* row = new QTreeWidgetItem(m_tree);
    for (const int column : {DbColumn, GainColumn})
        row->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
    auto* use = newUse();
    connect(use, &QToolButton::clicked, this, [this, row] { take(row); });
    m_tree->setItemWidget(row, UseColumn, use);
    m_shown.emplace_back();
    fillRow(*row, m_shown.back());
}

void AlternativesCard::fillRow(QTreeWidgetItem& row, const Row& words)
{
    QFont bold = m_tree->font();
    bold.setWeight(QFont::DemiBold);
    const QString texts[] = {words.way, words.db, words.gain};
    for (const int column : {WayColumn, DbColumn, GainColumn}) {
        row.setText(column, texts[column]);
        row.setToolTip(column, words.tip);
        row.setData(column, Qt::FontRole, words.isNow ? QVariant(bold) : QVariant());
        row.setData(column, Qt::ForegroundRole,
                    words.isTitle ? QVariant(QBrush(theme().muted)) : QVariant());
    }
    row.setData(WayColumn, kTargetRole, words.target >= 0 ? QVariant(words.target) : QVariant());
    row.setData(WayColumn, kNameRole, words.name.isEmpty() ? QVariant() : QVariant(words.name));
    if (row.isFirstColumnSpanned() != words.isTitle)
        row.setFirstColumnSpanned(words.isTitle);
    row.setFlags(words.isTitle ? Qt::ItemIsEnabled : Qt::ItemIsEnabled | Qt::ItemIsSelectable);
    auto* use = qobject_cast<QToolButton*>(m_tree->itemWidget(&row, UseColumn));
    const bool isOffered = !words.name.isEmpty() && !words.isNow;
    use->setEnabled(isOffered); // the view shows and hides the button with its row
    use->setText(isOffered ? tr("Use") : QString());
    use->setAccessibleName(isOffered ? tr("Use %1").arg(words.name) : QString());
    use->setToolTip(isOffered ? tr("Quantize it so; can be undone") : QString());
}

void AlternativesCard::take(QTreeWidgetItem* row)
{
    if (m_waiting)
        return;
    const QVariant at = row->data(WayColumn, kTargetRole);
    if (!at.isValid() || std::size_t(at.toInt()) >= m_targets.size())
        return;
    const SpecTarget target = m_targets[std::size_t(at.toInt())];
    const QString name = row->data(WayColumn, kNameRole).toString();
    const ObserverId observer = observerOf(m_workspace, target);
    const std::vector<Alternative>* found
        = observer ? m_workspace.alternatives().ask(observer) : nullptr;
    if (!found)
        return;
    const auto one = std::find_if(found->begin(), found->end(), [&](const Alternative& choice) {
        return toQString(choice.name) == name;
    });
    if (one == found->end())
        return;
    if (one->byRule) {
        clearSpec(m_workspace, target);
        return;
    }
    const bool isFloat = one->qparams.scale.empty();
    assignSpec(m_workspace, target, isFloat ? std::nullopt : std::optional(one->spec), name);
}

} // namespace qs
