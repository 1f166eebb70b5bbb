// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/help_window.h"

#include "ui/help/help_page.h"
#include "ui/help/help_topics.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QAbstractTextDocumentLayout>
#include <QDesktopServices>
#include <QDir>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalBlocker>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextCursor>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>

namespace qs {

HelpWindow::HelpWindow(QWidget* parent)
    : QDialog(parent)
    , m_field(new QLineEdit(this))
    , m_back(makeButton("helpBack", tr("Back"), tr("Go to the previous place (Alt+Left)"), this))
    , m_list(new QListWidget(this))
    , m_text(new QTextBrowser(this))
{
    setObjectName(QStringLiteral("helpWindow"));
    setWindowTitle(tr("Help"));
    resize(std::min(px(1060), 1240), std::min(px(660), 680));
    setNames(*m_field, "helpField", tr("Find in the help"));
    m_field->setPlaceholderText(tr("Find in the help …"));
    m_field->setClearButtonEnabled(true);
    m_back->setAutoDefault(false);
    m_back->setShortcut(QKeySequence(Qt::ALT | Qt::Key_Left));
    setNames(*m_list, "helpTopics", tr("Help topics"));
    m_list->setSpacing(1);
    m_list->setFixedWidth(std::min(px(300), 420));
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setNames(*m_text, "helpText", tr("Explanation"));
    m_text->setOpenLinks(false);
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setFont(uiFont(13));
    QString section;
    for (const auto& topic : helpTopics()) {
        if (topic.section != section) {
            section = topic.section;
            auto* head = new QListWidgetItem(section, m_list);
            head->setFlags(Qt::NoItemFlags);
            head->setFont(uiFont(11, QFont::DemiBold));
        }
        auto* item = new QListWidgetItem(topic.title, m_list);
        item->setData(Qt::UserRole, topic.id);
    }
    auto* find = makeHBox(nullptr, {}, 8);
    addItems(*find, {{m_field, 1}, m_back});
    auto* left = new QVBoxLayout;
    addItems(*left, {find, {m_list, 1}});
    addItems(*makeHBox(this, {12, 12, 12, 12}, 12), {left, {m_text, 1}});
    connect(m_field, &QLineEdit::textChanged, this, &HelpWindow::filter);
    connect(m_back, &QPushButton::clicked, this, &HelpWindow::goBack);
    connect(m_list, &QListWidget::currentItemChanged, this, [this](const QListWidgetItem* item) {
        if (item)
            showTopic(item->data(Qt::UserRole).toString(), m_field->text());
    });
    connect(m_text, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) { follow(link); });
    go(helpTopics().front().id, {});
}

void HelpWindow::showTopic(const QString& place, const QString& term)
{
    const QString wanted = findHelpTopic(place) ? place : helpTopics().front().id;
    if (wanted != m_place)
        m_past << m_place;
    go(wanted, term);
}

void HelpWindow::goBack()
{
    if (!m_past.isEmpty())
        go(m_past.takeLast(), {});
}

void HelpWindow::go(const QString& place, const QString& term)
{
    const HelpTopic* before = findHelpTopic(m_place);
    m_place = place;
    m_term = term;
    m_back->setEnabled(!m_past.isEmpty());
    const HelpTopic& topic = *findHelpTopic(place);
    const QSignalBlocker silence(m_list);
    for (int row = 0; row < m_list->count(); ++row) {
        QListWidgetItem& item = *m_list->item(row);
        if (item.data(Qt::UserRole).toString() != topic.id)
            continue;
        if (item.isHidden())
            m_field->clear();
        m_list->setCurrentItem(&item);
    }
    if (before != &topic)
        fillHelpPage(*m_text, topic);
    reveal();
}

void HelpWindow::showEvent(QShowEvent* event)
{
    QDialog::showEvent(event);
    fillHelpPage(*m_text, *findHelpTopic(m_place)); // for the current width
    reveal();
}

void HelpWindow::reveal()
{
    const QString anchor = m_place.section(QLatin1Char('#'), 1);
    QTextDocument& document = *m_text->document();
    QTextBlock heading;
    for (auto block = document.begin(); !anchor.isEmpty() && block.isValid(); block = block.next())
        if (block.blockFormat().headingLevel() > 0 && headingAnchor(block.text()) == anchor) {
            heading = block;
            break;
        }
    const int from = heading.isValid() ? heading.position() : 0;
    QTextCursor cursor(&document);
    cursor.setPosition(from);
    const QTextCursor found = m_term.isEmpty() ? QTextCursor() : document.find(m_term, cursor);
    QList<QTextEdit::ExtraSelection> marks;
    if (!found.isNull()) {
        marks.push_back({found, {}});
        marks.back().format.setBackground(theme().accentSoft);
        cursor.setPosition(found.selectionStart());
    }
    m_text->setExtraSelections(marks);
    m_text->setTextCursor(cursor);
    const QRectF rect = document.documentLayout()->blockBoundingRect(heading);
    m_text->verticalScrollBar()->setValue(heading.isValid() ? int(rect.top()) - px(8) : 0);
    const int below = m_text->cursorRect().top() - m_text->viewport()->height() / 3;
    if (!found.isNull() && below > 0)
        m_text->verticalScrollBar()->setValue(m_text->verticalScrollBar()->value() + below);
}

void HelpWindow::filter(const QString& text)
{
    QListWidgetItem* first = nullptr;
    for (int row = 0; row < m_list->count(); ++row) {
        auto* item = m_list->item(row);
        const auto* topic = findHelpTopic(item->data(Qt::UserRole).toString());
        if (!topic) { // a heading
            item->setHidden(!text.isEmpty());
            continue;
        }
        const bool fits = topic->title.contains(text, Qt::CaseInsensitive)
            || topic->text.contains(text, Qt::CaseInsensitive);
        item->setHidden(!fits);
        if (fits && !first)
            first = item;
    }
    if (first && (!m_list->currentItem() || m_list->currentItem()->isHidden())) {
        m_list->setCurrentItem(first);
    } else {
        m_term = text;
        reveal();
    }
}

void HelpWindow::follow(const QUrl& link)
{
    const HelpTopic& from = *findHelpTopic(m_place);
    if (const QString place = helpPlaceOfLink(from, link.toString()); !place.isEmpty())
        showTopic(place);
    else
        QDesktopServices::openUrl(link.scheme().isEmpty()
                                      ? QUrl::fromLocalFile(QDir(from.folder).filePath(link.path()))
                                      : link);
}

} // namespace qs
