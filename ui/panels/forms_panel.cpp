// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/forms_panel.h"

#include "engine/base/text.h"
#include "engine/export/documents/forms_text.h"
#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QHeaderView>
#include <QLabel>
#include <QTreeWidget>

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace qs {

namespace {

/// Returns "-1: 12, 0: 4084, +1: 3".
QString histogramText(const StepCounts& steps)
{
    QStringList parts;
    for (int apart = -StepCounts::kReach; apart <= StepCounts::kReach; ++apart) {
        const auto count = steps.apartBy(apart);
        if (count == 0)
            continue;
        const bool isEnd = std::abs(apart) == StepCounts::kReach;
        parts << QStringLiteral("%1%2%3: %4")
                     .arg(apart > 0 ? QStringLiteral("+") : QString())
                     .arg(apart)
                     .arg(isEnd ? QObject::tr(" and beyond") : QString())
                     .arg(count);
    }
    return parts.join(QStringLiteral(", "));
}

void fillSteps(QTreeWidgetItem& item, int column, const StepCounts* steps)
{
    if (!steps)
        return;
    if (steps->count > 0) {
        item.setText(column, toQString(shareText(*steps)));
        item.setText(column + 1, toQString(stepsText(steps->mean())));
        for (int i = 0; i < 3; ++i)
            item.setToolTip(column + i,
                            QObject::tr("Elements by steps, lowered less reference: %1")
                                .arg(histogramText(*steps)));
    }
    item.setText(column + 2, toQString(stepsText(steps->largest)));
    if (steps->largest > 1)
        item.setForeground(column + 2, theme().danger);
}

} // namespace

FormsPanel::FormsPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_headline(new QLabel(this))
    , m_rows(new QTreeWidget(this))
{
    setObjectName(QStringLiteral("formsPanel"));
    setFocusProxy(m_rows);
    auto* column = makeVBox(this, {}, 0);
    m_headline->setObjectName(QStringLiteral("formsHeadline"));
    m_headline->setFont(uiFont(12, 600));
    m_headline->setContentsMargins(12, 5, 12, 5);
    m_headline->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_headline->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    m_headline->setWordWrap(true);
    column->addWidget(m_headline);
    setNames(*m_rows, "formsRows", tr("Simulated and real"), tr("Click a row to select its node"));
    m_rows->setHeaderLabels({tr("Node"), tr("Kernel"), tr("Alone: equal"), tr("mean"), tr("max"),
                             tr("Whole: equal"), tr("mean"), tr("max"), tr("Reference, dB"),
                             tr("Lowered, dB"), tr("In reference form because")});
    m_rows->setRootIsDecorated(false);
    m_rows->setUniformRowHeights(true);
    m_rows->setFrameShape(QFrame::NoFrame);
    m_rows->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    m_rows->header()->setStretchLastSection(true);
    column->addWidget(m_rows, 1);
    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace.document(), &Document::modelChanged, this, later);
    connect(&workspace.document(), &Document::resultsChanged, this, later);
    connect(&workspace.document(), &Document::recipeChanged, this, later);
    connect(m_rows, &QTreeWidget::itemClicked, this, &FormsPanel::choose);
    connect(m_rows, &QTreeWidget::itemActivated, this, &FormsPanel::choose);
    refresh();
}

void FormsPanel::showHeadline()
{
    const auto& document = m_workspace.document();
    const ComparisonPtr& comparison = document.comparison();
    if (!document.model() || !comparison || comparison->departures.empty()) {
        m_headline->setText(tr(
            "After a comparison: how far the lowered form is from the reference form, in steps"));
        return;
    }
    QStringList lines;
    for (const std::string& line :
         formsLines(*document.model(), *comparison, document.converted().get()))
        lines << toQString(line);
    QString text = lines.join(QLatin1Char('\n'));
    if (document.isStale(Stage::Compare))
        text += tr(" (of other decisions)");
    m_headline->setText(text);
    m_headline->setToolTip(text);
}

void FormsPanel::refresh()
{
    m_rows->clear();
    showHeadline();
    const auto& document = m_workspace.document();
    const GraphPtr& model = document.model();
    if (!model || !document.converted())
        return;
    std::unordered_map<NodeId, const KernelCheck*> checks;
    for (const KernelCheck& check : document.converted()->checks)
        checks.insert_or_assign(check.node, &check);
    std::unordered_map<NodeId, const FormDeparture*> whole;
    if (const ComparisonPtr& comparison = document.comparison())
        for (const FormDeparture& departure : comparison->departures)
            whole.insert_or_assign(departure.node, &departure);
    std::unordered_map<NodeId, QString> reasons;
    for (const Residue& left : document.converted()->residue)
        if (left.kind == Residue::Kind::Unlowered)
            reasons[left.node] = toQString(left.reason);
    for (const NodePtr& node : model->nodes()) {
        const auto check = checks.find(node->id);
        const auto run = whole.find(node->id);
        const auto reason = reasons.find(node->id);
        if (check == checks.end() && run == whole.end() && reason == reasons.end())
            continue;
        const bool isLowered = check != checks.end() && check->second->passed;
        addRow(*node, isLowered ? toQString(check->second->kernel) : QString(),
               check == checks.end() ? nullptr : &check->second->steps,
               run == whole.end() ? nullptr : run->second,
               reason == reasons.end() ? QString() : reason->second);
    }
}

void FormsPanel::addRow(const Node& node, const QString& kernel, const StepCounts* alone,
                        const FormDeparture* whole, const QString& reason)
{
    auto* item = new QTreeWidgetItem(m_rows);
    item->setText(Name, m_workspace.facts().title(node.id));
    item->setData(Name, Qt::UserRole, toQString(node.name));
    item->setText(Kernel, kernel.isEmpty() ? tr("reference form") : kernel);
    if (kernel.isEmpty())
        item->setForeground(Kernel, theme().muted);
    fillSteps(*item, AloneEqual, alone);
    fillSteps(*item, WholeEqual, whole ? &whole->steps : nullptr);
    if (whole && whole->referenceDb && whole->loweredDb) {
        item->setText(ReferenceDb, shownSqnr(*whole->referenceDb, ""));
        item->setText(ReferenceDb + 1, shownSqnr(*whole->loweredDb, ""));
    }
    item->setText(Reason, reason);
    item->setToolTip(Reason, reason);
    for (int column = AloneEqual; column < Reason; ++column)
        item->setTextAlignment(column, Qt::AlignRight | Qt::AlignVCenter);
}

void FormsPanel::choose(const QTreeWidgetItem* item)
{
    const auto& model = m_workspace.document().model();
    const Node* node
        = model ? model->tryFind(item->data(Name, Qt::UserRole).toString().toStdString()) : nullptr;
    if (!node)
        return;
    m_workspace.selectNode(node->id);
    Q_EMIT revealWanted();
}

} // namespace qs
