// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dialogs/replacements_dialog.h"

#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QTreeWidget>

#include <algorithm>

namespace qs {

namespace {

/// Returns "quantized.reference.Conv2d".
QString shortModule(const std::string& name)
{
    const QString package = QStringLiteral("torch.ao.nn.");
    const QString text = toQString(name);
    return text.startsWith(package) ? text.mid(package.size()) : text;
}

QString preparedText(const Replacement& row)
{
    if (row.isKept)
        return ReplacementsDialog::tr("kept as it is");
    return row.prepared.empty() ? ReplacementsDialog::tr("itself, observed")
                                : shortModule(row.prepared);
}

QString convertedText(const Replacement& row)
{
    if (row.isKept)
        return {};
    if (!row.isQuantized)
        return ReplacementsDialog::tr("float");
    return row.reference.empty() ? ReplacementsDialog::tr("itself, on integers")
                                 : shortModule(row.reference);
}

} // namespace

ReplacementsDialog::ReplacementsDialog(Workspace& workspace, QWidget* parent)
    : QDialog(parent)
    , m_workspace(workspace)
    , m_filter(new QLineEdit(this))
    , m_list(new QTreeWidget(this))
    , m_count(new QLabel(this))
{
    setObjectName(QStringLiteral("replacementsDialog"));
    setWindowTitle(tr("What preparing replaces"));
    resize(px(860), std::min(px(560), 680));
    auto* intro = makeParagraph(
        tr("Preparing fuses operators and observes them; converting puts quantized ones in their "
           "place. A line without a mark stays unchanged: float and not fused."),
        this);
    setUpFilter(*m_filter, "replacementsFilter", tr("Filter replacements"),
                tr("Filter, such as conv"));
    setNames(*m_list, "replacements",
             tr("Replaced operators; Space keeps a line unchanged, or replaces it"));
    m_list->setHeaderLabels({tr("Operators"), tr("Module"), tr("Prepared as"), tr("Converted to")});
    m_list->setRootIsDecorated(false);
    m_list->setUniformRowHeights(true);
    for (int column = 0; column < 4; ++column)
        m_list->header()->setSectionResizeMode(column, QHeaderView::Stretch);
    m_count->setObjectName(QStringLiteral("replacementsCount"));
    auto* close = new QDialogButtonBox(QDialogButtonBox::Close, this);
    auto* last = new QHBoxLayout;
    addItems(*last, {{m_count, 1}, close});
    addItems(*makeVBox(this, {20, 16, 20, 14}, 10), {intro, m_filter, {m_list, 1}, last});
    connect(close, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_filter, &QLineEdit::textChanged, this, &ReplacementsDialog::applyFilter);
    connect(m_list, &QTreeWidget::itemChanged, this, &ReplacementsDialog::onToggled);
    connect(&workspace.document(), &Document::planChanged, this, &ReplacementsDialog::refresh);
    refresh();
    m_list->setFocus();
}

void ReplacementsDialog::refresh()
{
    const Document& document = m_workspace.document();
    m_rows.clear();
    if (document.model() && document.plan())
        m_rows = replacementsOf(*document.model(), document.recipe(), *document.plan());
    const int current = std::max(0, m_list->indexOfTopLevelItem(m_list->currentItem()));
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    for (const Replacement& row : m_rows)
        showRow(*new QTreeWidgetItem(m_list), row);
    m_list->setCurrentItem(m_list->topLevelItem(std::min(current, int(m_rows.size()) - 1)));
    const auto kept = std::count_if(m_rows.begin(), m_rows.end(),
                                    [](const Replacement& row) { return row.isKept; });
    m_count->setText(
        tr("%1 replaced, %2 kept as they are").arg(std::ptrdiff_t(m_rows.size()) - kept).arg(kept));
    applyFilter();
}

void ReplacementsDialog::showRow(QTreeWidgetItem& item, const Replacement& row)
{
    const Graph& graph = *m_workspace.document().model();
    const QString texts[] = {toQString(NodeTitles(graph).of(row.members)),
                             toQString(graph.get(row.members.front()).scope.path),
                             preparedText(row), convertedText(row)};
    const QString tips[]
        = {texts[0], texts[1], row.prepared.empty() ? texts[2] : toQString(row.prepared),
           row.reference.empty() ? texts[3] : toQString(row.reference)};
    for (int column = 0; column < 4; ++column) {
        item.setText(column, texts[column]);
        item.setToolTip(column, tips[column]);
        if (row.isKept)
            item.setForeground(column, theme().muted);
    }
    item.setCheckState(0, row.isKept ? Qt::Unchecked : Qt::Checked);
}

void ReplacementsDialog::onToggled(QTreeWidgetItem* item)
{
    const int at = m_list->indexOfTopLevelItem(item);
    if (at < 0 || at >= int(m_rows.size()))
        return;
    const Document& document = m_workspace.document();
    const Replacement row = m_rows[std::size_t(at)];
    const QString names = toQString(NodeTitles(*document.model()).of(row.members));
    const bool replaces = item->checkState(0) == Qt::Checked;
    m_workspace.change(replaces ? tr("replace %1").arg(names) : tr("keep %1 as it is").arg(names),
                       replaces ? replaceAgain(document.recipe(), *document.model(), row)
                                : keepAsItIs(document.recipe(), *document.model(), row));
}

void ReplacementsDialog::applyFilter()
{
    const QString wanted = m_filter->text().trimmed();
    for (int i = 0; i < m_list->topLevelItemCount(); ++i) {
        QTreeWidgetItem* item = m_list->topLevelItem(i);
        bool fits = false;
        for (int column = 0; column < 4; ++column)
            fits = fits || item->text(column).contains(wanted, Qt::CaseInsensitive);
        item->setHidden(!fits);
    }
}

} // namespace qs
