// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cure/cause_list.h"

#include "engine/result/part_text.h"
#include "ui/cure/shown_causes.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QHeaderView>
#include <QSignalBlocker>

namespace qs {

namespace {

constexpr int kFirstRole = Qt::UserRole; ///< list of the causes' indices
constexpr std::size_t kMostUnfolded = 3; ///< places of a cause that are shown at first

QVariantList indicesOf(const std::vector<std::size_t>& causes)
{
    QVariantList list;
    for (const std::size_t cause : causes)
        list << int(cause);
    return list;
}

std::vector<std::size_t> causesOf(const QTreeWidgetItem& row)
{
    std::vector<std::size_t> causes;
    for (const QVariant& index : row.data(0, kFirstRole).toList())
        causes.push_back(std::size_t(index.toInt()));
    return causes;
}

QTreeWidgetItem* addCauseRow(QTreeWidgetItem* parent, const QString& text, const QString& share,
                             const std::vector<std::size_t>& causes)
{
    auto* row = new QTreeWidgetItem(parent, {text, share});
    row->setTextAlignment(1, Qt::AlignRight | Qt::AlignVCenter);
    row->setToolTip(0, text);
    row->setData(0, kFirstRole, indicesOf(causes));
    return row;
}

} // namespace

CauseList::CauseList(ShownCauses& causes, QWidget* parent)
    : QTreeWidget(parent)
    , m_causes(causes)
{
    setNames(*this, "causeList", tr("Causes of the noise"));
    setColumnCount(2);
    setHeaderHidden(true);
    setUniformRowHeights(true);
    setFrameShape(QFrame::NoFrame);
    setIndentation(px(14));
    setMinimumHeight(px(44));
    header()->setStretchLastSection(false);
    header()->setSectionResizeMode(0, QHeaderView::Stretch);
    header()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    connect(&causes, &ShownCauses::changed, this, &CauseList::refresh);
    connect(&causes, &ShownCauses::chosenChanged, this, &CauseList::showChosen);
    connect(this, &QTreeWidget::currentItemChanged, this, [this](QTreeWidgetItem* row) {
        if (row)
            m_causes.choose(causesOf(*row));
    });
    connect(this, &QTreeWidget::itemClicked, this,
            [this](QTreeWidgetItem* row) { m_causes.choose(causesOf(*row)); });
    refresh();
}

void CauseList::refresh()
{
    QStringList texts;
    const auto& groups = m_causes.groups();
    for (const CauseGroup& group : groups)
        for (const std::size_t cause : group.causes)
            texts << m_causes.titleOf(cause) << toQString(partText(m_causes.causes()[cause].share));
    if (texts == property("shown").toStringList())
        return; // keeps what is unfolded
    setProperty("shown", texts);
    const QSignalBlocker quiet(this);
    clear();
    QFont bold = font();
    bold.setWeight(QFont::DemiBold);
    for (const CauseGroup& group : groups) {
        auto* head = addCauseRow(invisibleRootItem(), toQString(causeWords(group.code)),
                                 toQString(partText(group.share)), group.causes);
        head->setFont(0, bold);
        for (const std::size_t index : group.causes) {
            const Cause& cause = m_causes.causes()[index];
            auto* place = addCauseRow(head, m_causes.titleOf(index),
                                      toQString(partText(cause.share)), {index});
            for (const QString& line : m_causes.evidenceOf(index)) {
                auto* row = addCauseRow(place, line, {}, {index});
                row->setForeground(0, theme().muted);
                row->setFirstColumnSpanned(true);
            }
            place->setExpanded(true);
        }
        head->setExpanded(group.causes.size() <= kMostUnfolded);
    }
    showChosen();
}

/// Makes the row of the chosen causes current.
void CauseList::showChosen()
{
    const QVariantList wanted = indicesOf(m_causes.chosen());
    if (currentItem() && currentItem()->data(0, kFirstRole).toList() == wanted)
        return;
    const QSignalBlocker quiet(this);
    for (int i = 0; i < topLevelItemCount(); ++i)
        if (topLevelItem(i)->data(0, kFirstRole).toList() == wanted) {
            setCurrentItem(topLevelItem(i));
            return;
        }
}

} // namespace qs
