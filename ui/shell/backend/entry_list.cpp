// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/backend/entry_list.h"

#include "engine/configure/backend/entry_words.h"
#include "engine/configure/backend/fusion_entries.h"
#include "ui/session/decisions/backend_decisions.h"
#include "ui/session/text.h"
#include "ui/shell/backend/backend_draft.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>
#include <QTreeWidget>

#include <algorithm>

namespace qs {

QString shortNames(QString text)
{
    static const std::pair<QString, QString> packages[] {
        {QStringLiteral("torch.ao.nn.intrinsic.qat."), QStringLiteral("nniqat.")},
        {QStringLiteral("torch.ao.nn.intrinsic."), QStringLiteral("nni.")},
        {QStringLiteral("torch.ao.nn.qat."), QStringLiteral("nnqat.")},
        {QStringLiteral("torch.nn.functional."), QStringLiteral("F.")},
        {QStringLiteral("torch.nn."), QStringLiteral("nn.")}};
    for (const auto& [whole, brief] : packages)
        text.replace(whole, brief);
    return text;
}

EntryList::EntryList(BackendDraft& draft, QWidget* parent)
    : QWidget(parent)
    , m_draft(draft)
    , m_filter(new QLineEdit(this))
    , m_entries(new QTreeWidget(this))
    , m_fusions(new QMenu(tr("&Fusion"), this))
    , m_duplicate(makeButton("backendDuplicate", tr("&Duplicate"),
                             tr("A copy of the chosen entry after it"), this))
    , m_remove(makeButton("backendRemove", tr("R&emove"), tr("Remove the chosen entry"), this))
{
    setUpFilter(*m_filter, "backendFilter", tr("Filter entries"), tr("Filter, such as conv2d"));
    setNames(*m_entries, "backendEntries", tr("Entries of the backend"));
    m_entries->setHeaderLabels({tr("Pattern"), tr("Becomes"), tr("Types")});
    m_entries->setRootIsDecorated(false);
    m_entries->setUniformRowHeights(true);
    m_entries->header()->setStretchLastSection(false);
    m_entries->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_entries->header()->setSectionResizeMode(1, QHeaderView::Stretch);
    m_entries->header()->setSectionResizeMode(2, QHeaderView::ResizeToContents);
    auto* buttons = new QHBoxLayout;
    addItems(*buttons, {buildAdder(), m_duplicate, m_remove});
    buttons->addStretch(1);
    addItems(*makeVBox(this, {0, 0, 8, 0}, 8), {m_filter, {m_entries, 1}, buttons});
    connect(m_entries, &QTreeWidget::currentItemChanged, this,
            [this] { Q_EMIT chosen(current()); });
    connect(m_filter, &QLineEdit::textChanged, this, &EntryList::applyFilter);
    connect(m_duplicate, &QPushButton::clicked, this,
            [this] { fill(m_draft.duplicate(current())); });
    connect(m_remove, &QPushButton::clicked, this, [this] {
        const int entry = current();
        m_draft.remove(entry);
        fill(std::min(entry, m_draft.size() - 1));
    });
}

QPushButton* EntryList::buildAdder()
{
    auto* add = new QPushButton(tr("&Add"), this);
    add->setObjectName(QStringLiteral("backendAdd"));
    auto* menu = new QMenu(add);
    menu->setObjectName(QStringLiteral("backendAddMenu"));
    menu->setToolTipsVisible(true);
    auto* entry = menu->addAction(tr("&Entry"));
    entry->setObjectName(QStringLiteral("backendAddEntry"));
    entry->setToolTip(tr("An entry without a pattern, after the chosen one"));
    m_fusions->setObjectName(QStringLiteral("backendFusions"));
    menu->addMenu(m_fusions);
    add->setMenu(menu);
    connect(m_fusions, &QMenu::aboutToShow, this, &EntryList::fillFusionMenu);
    connect(entry, &QAction::triggered, this, [this] {
        fill(m_draft.add(current()));
        Q_EMIT added();
    });
    return add;
}

/// Lists the fusions of shipped backends that this backend lacks, by their first operator.
void EntryList::fillFusionMenu()
{
    qDeleteAll(m_fusions->findChildren<QMenu*>(QString(), Qt::FindDirectChildrenOnly));
    m_fusions->clear();
    std::map<QString, QMenu*> byRoot;
    for (const auto& pattern : knownFusions()) {
        if (hasFusion(m_draft.backend(), pattern))
            continue;
        const QString root = shortNames(toQString(pattern.front()));
        QMenu*& menu = byRoot[root];
        if (!menu)
            menu = m_fusions->addMenu(root);
        auto* action = menu->addAction(shortPattern(pattern));
        connect(action, &QAction::triggered, this,
                [this, pattern] { take(m_draft.addFusion(pattern)); });
    }
    if (byRoot.empty())
        m_fusions->addAction(tr("The backend has every known fusion"))->setEnabled(false);
}

void EntryList::take(const Result<int>& added)
{
    if (added)
        fill(*added);
    else
        Q_EMIT refused(toQString(added.error().line()));
}

int EntryList::current() const
{
    return m_entries->indexOfTopLevelItem(m_entries->currentItem());
}

void EntryList::showEntry(int entry)
{
    QTreeWidgetItem* item = m_entries->topLevelItem(entry);
    if (!item)
        return;
    if (item->isHidden())
        m_filter->clear();
    m_entries->setCurrentItem(item);
    m_entries->scrollToItem(item);
}

void EntryList::fill(int entry)
{
    {
        const QSignalBlocker quiet(m_entries);
        m_entries->clear();
        while (m_entries->topLevelItemCount() < m_draft.size())
            new QTreeWidgetItem(m_entries);
        refresh();
        applyFilter();
        showEntry(entry);
    }
    Q_EMIT chosen(current());
}

void EntryList::refresh()
{
    for (int entry = 0; entry < m_draft.size(); ++entry)
        showRow(entry);
    m_duplicate->setEnabled(current() >= 0);
    m_remove->setEnabled(current() >= 0);
}

void EntryList::showRow(int entry)
{
    QTreeWidgetItem* item = m_entries->topLevelItem(entry);
    const BackendPattern& pattern = m_draft.backend().patterns[std::size_t(entry)];
    const QString line = toQString(m_draft.fields(entry).pattern).trimmed();
    const BackendProblem* worst = m_draft.worstOf(entry);
    const QString mark = !worst ? QString()
        : worst->error          ? QStringLiteral("✕ ")
                                : QStringLiteral("! ");
    item->setText(0, mark + (line.isEmpty() ? tr("no pattern yet") : shortNames(line)));
    item->setText(1, shortNames(toQString(useWords(pattern))));
    item->setText(2, QString::number(m_draft.fields(entry).configs.size()));
    item->setTextAlignment(2, Qt::AlignRight | Qt::AlignVCenter);
    item->setForeground(0, !worst ? theme().text : worst->error ? theme().danger : theme().warning);
    item->setForeground(1, theme().muted);
    item->setData(0, Qt::UserRole, line);
    item->setToolTip(0, worst ? toQString(worst->text) : line);
    QStringList types;
    for (const DTypeConfig& config : pattern.dtypeConfigs)
        types << toQString(dtypesWords(config));
    item->setToolTip(2, types.join(QLatin1Char('\n')));
}

void EntryList::applyFilter()
{
    const QString wanted = m_filter->text().trimmed();
    for (int i = 0; i < m_entries->topLevelItemCount(); ++i) {
        QTreeWidgetItem* item = m_entries->topLevelItem(i);
        const QStringList texts {item->data(0, Qt::UserRole).toString(), item->text(0),
                                 item->text(1)};
        item->setHidden(std::none_of(texts.begin(), texts.end(), [&](const QString& text) {
            return text.contains(wanted, Qt::CaseInsensitive);
        }));
    }
}

void EntryList::focusFilter()
{
    m_filter->setFocus();
}

} // namespace qs
