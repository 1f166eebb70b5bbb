// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/cards/alternatives_card.h"

#include "engine/convert/ranges/choose_qparams.h"
#include "engine/convert/ranges/storage_range.h"
#include "engine/convert/ranges/value_noise.h"
#include "ui/plots/range_trial.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QHeaderView>
#include <QToolButton>
#include <QTreeWidget>

#include <algorithm>

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

/// "≈ 41.2", "41.2" where the figure comes from the values themselves.
QString dbText(const Alternative& one)
{
    if (!one.sqnrDb)
        return one.qparams.scale.empty() ? QObject::tr("no loss") : QStringLiteral("–");
    return (one.exactError ? QString() : QStringLiteral("≈ ")) + shownSqnr(*one.sqnrDb, "");
}

/// "mse" of "histogram, mse": the column is narrow.
QString shortWay(const std::string& name)
{
    QString text = toQString(name).section(QStringLiteral(", "), -1);
    return text.replace(QStringLiteral("moving_average_minmax"), QObject::tr("moving average"));
}

/// A range that is fixed is known without a calibration.
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

/// Each change of a span lays out the whole tree at once.
void span(QTreeWidgetItem& row, bool isSpanned)
{
    if (row.isFirstColumnSpanned() != isSpanned)
        row.setFirstColumnSpanned(isSpanned);
}

} // namespace

AlternativesCard::AlternativesCard(Workspace& workspace, QWidget* parent)
    : Card(tr("Alternatives"), parent)
    , m_workspace(workspace)
    , m_tree(new QTreeWidget(this))
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
    m_tree->setUniformRowHeights(true); // else each changed text measures its row
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_tree->setStyleSheet(
        QStringLiteral("QHeaderView::section, QHeaderView::section:first { color: %1; "
                       "padding: 3px 4px; }")
            .arg(theme().muted.name()));
    m_tree->header()->setFont(uiFont(11));
    m_tree->header()->setMinimumSectionSize(px(24));
    m_tree->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_tree->header()->setSectionResizeMode(WayColumn, QHeaderView::Stretch);
    m_tree->header()->setStretchLastSection(false);
    layout()->addWidget(m_tree);
    connect(m_tree, &QTreeWidget::itemActivated, this, [this](QTreeWidgetItem* row) { take(row); });
    connect(&workspace.alternatives(), &AlternativesAsked::arrived, this, [this] {
        if (m_waiting)
            refresh();
    });
}

void AlternativesCard::refresh()
{
    m_waiting = false;
    m_rows = 0;
    m_tree->setCurrentItem(nullptr);
    m_targets.clear();
    const auto& selection = m_workspace.selection();
    const auto& facts = m_workspace.facts();
    const NodeId node = selection.current();
    const auto edge = edgeLookedAt(m_workspace);
    if (edge)
        addSection(selection.edge() ? QString() : edgeText(facts, *edge),
                   observerOnEdge(m_workspace, *edge), {SpecTarget::Kind::Edge, *edge, {}});
    if (node && !selection.isModule() && !selection.edge()) {
        const ObserverId output = facts.outputObserver(node), weight = facts.weightObserver(node);
        addSection(weight ? tr("output") : QString(), output,
                   {SpecTarget::Kind::Value, {}, facts.last(node)});
        addSection(output ? tr("weight") : QString(), weight, {SpecTarget::Kind::Weight, {}, node});
    }
    for (int i = 0; i < m_tree->topLevelItemCount(); ++i) {
        QTreeWidgetItem& row = *m_tree->topLevelItem(i);
        if (i >= m_rows && !row.isHidden())
            clearRow(row);
        if (row.isHidden() != (i >= m_rows))
            row.setHidden(i >= m_rows);
    }
    setVisible(m_rows > 0);
    const int height = std::max(m_tree->sizeHintForRow(0), px(18));
    m_tree->setFixedHeight(m_tree->header()->sizeHint().height()
                           + height * std::min(m_rows, kShownAlternatives) + 4);
}

void AlternativesCard::addSection(const QString& title, ObserverId observer,
                                  const SpecTarget& target)
{
    if (!observer)
        return;
    const std::vector<Alternative>* found = m_workspace.alternatives().ask(observer);
    if (found && found->empty())
        return;
    m_targets.push_back(target);
    if (!title.isEmpty() || !found) {
        QTreeWidgetItem& section = nextRow();
        section.setText(WayColumn, found ? title : tr("working out…"));
        span(section, true);
        section.setFlags(Qt::ItemIsEnabled);
        section.setForeground(WayColumn, theme().muted);
    }
    m_waiting |= !found;
    if (!found)
        return;
    // A decision since the calibration is what the value is quantized by now.
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
        addChoice(*fixed, now);
    }
    for (const Alternative& one : *found)
        addChoice(one, now);
}

/// The next row, as good as new: rows and their buttons are kept.
QTreeWidgetItem& AlternativesCard::nextRow()
{
    if (m_rows == m_tree->topLevelItemCount()) {
        auto* row = new QTreeWidgetItem(m_tree);
        for (const int column : {DbColumn, GainColumn})
            row->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
        auto* use = new QToolButton(m_tree);
        use->setFont(uiFont(10.5));
        use->setAutoRaise(true);
        use->setFocusPolicy(Qt::NoFocus); // Enter on the row does the same
        connect(use, &QToolButton::clicked, this, [this, row] { take(row); });
        m_tree->setItemWidget(row, UseColumn, use);
    }
    QTreeWidgetItem& row = *m_tree->topLevelItem(m_rows++);
    clearRow(row);
    return row;
}

void AlternativesCard::clearRow(QTreeWidgetItem& row)
{
    for (const int column : {WayColumn, DbColumn, GainColumn}) {
        row.setText(column, {});
        row.setToolTip(column, {});
        row.setData(column, Qt::FontRole, {});
        row.setData(column, Qt::ForegroundRole, {});
    }
    row.setData(WayColumn, kTargetRole, {});
    row.setData(WayColumn, kNameRole, {});
    span(row, false);
    row.setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
    offerUse(row, {});
}

/// The row's button, for the alternative of that name; without one it is not seen.
void AlternativesCard::offerUse(QTreeWidgetItem& row, const QString& name)
{
    auto* use = qobject_cast<QToolButton*>(m_tree->itemWidget(&row, UseColumn));
    use->setEnabled(!name.isEmpty());
    use->setText(name.isEmpty() ? QString() : tr("Use"));
    use->setAccessibleName(name.isEmpty() ? QString() : tr("Use %1").arg(name));
    use->setToolTip(name.isEmpty() ? QString() : tr("Quantize it so; can be undone"));
}

void AlternativesCard::addChoice(const Alternative& one, const Alternative* now)
{
    QTreeWidgetItem& row = nextRow();
    row.setText(WayColumn, shortWay(one.name));
    row.setText(DbColumn, dbText(one));
    const bool isNow = &one == now;
    if (now && now->sqnrDb && one.sqnrDb && !isNow) {
        const double gain = *one.sqnrDb - *now->sqnrDb;
        const QString sign = std::abs(gain) < 0.05 ? QString()
            : gain < 0                             ? QStringLiteral("−")
                                                   : QStringLiteral("+");
        row.setText(GainColumn, sign + QString::number(std::abs(gain), 'f', 1));
    }
    row.setData(WayColumn, kTargetRole, int(m_targets.size()) - 1);
    row.setData(WayColumn, kNameRole, toQString(one.name));
    for (const int column : {WayColumn, DbColumn, GainColumn})
        row.setToolTip(column, tipText(one));
    if (!isNow) {
        offerUse(row, toQString(one.name));
        return;
    }
    QFont bold = m_tree->font();
    bold.setWeight(QFont::DemiBold);
    for (int column = 0; column < 3; ++column)
        row.setFont(column, bold);
    row.setText(GainColumn, tr("now"));
}

void AlternativesCard::take(QTreeWidgetItem* row)
{
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
