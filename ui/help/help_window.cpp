// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/help_window.h"

#include "ui/help/help_topics.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QAbstractTextDocumentLayout>
#include <QDesktopServices>
#include <QDir>
#include <QFileInfo>
#include <QLineEdit>
#include <QListWidget>
#include <QRegularExpression>
#include <QScrollBar>
#include <QTextBlock>
#include <QTextBrowser>
#include <QTextCursor>
#include <QUrl>
#include <QVBoxLayout>

namespace qs {

namespace {

constexpr int kMargin = 16;

/// Without the links that lead nowhere here: the sources' READMEs, where only the program is.
QString shownText(const HelpTopic& topic)
{
    static const QRegularExpression link(QStringLiteral(R"(\[([^\]]*)\]\(([^)\s]+)\))"));
    QString out;
    qsizetype from = 0;
    for (auto it = link.globalMatch(topic.text); it.hasNext();) {
        const auto match = it.next();
        const QString target = match.captured(2);
        const bool leads = helpPlace(topic, target).topic || !QUrl(target).scheme().isEmpty()
            || QFileInfo::exists(QDir(topic.folder).filePath(target));
        out += topic.text.mid(from, match.capturedStart() - from)
            + (leads ? match.captured() : match.captured(1));
        from = match.capturedEnd();
    }
    return out + topic.text.mid(from);
}

} // namespace

HelpWindow::HelpWindow(QWidget* parent)
    : QDialog(parent)
    , m_field(new QLineEdit(this))
    , m_list(new QListWidget(this))
    , m_text(new QTextBrowser(this))
{
    setObjectName(QStringLiteral("helpWindow"));
    setWindowTitle(tr("Help"));
    resize(920, 620);
    setNames(*m_field, "helpField", tr("Find in the help"));
    m_field->setPlaceholderText(tr("Find in the help …"));
    setNames(*m_list, "helpTopics", tr("Help topics"));
    m_list->setSpacing(1);
    setNames(*m_text, "helpText", tr("Explanation"));
    m_text->setOpenLinks(false);
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->document()->setDocumentMargin(kMargin);
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
    auto* left = new QVBoxLayout;
    addItems(*left, {m_field, {m_list, 1}});
    addItems(*makeHBox(this, {12, 12, 12, 12}, 12), {{left, 2}, {m_text, 3}});
    connect(m_field, &QLineEdit::textChanged, this, &HelpWindow::filter);
    connect(m_list, &QListWidget::currentItemChanged, this, &HelpWindow::refresh);
    connect(m_text, &QTextBrowser::anchorClicked, this, [this](const QUrl& link) { follow(link); });
    showTopic(helpTopics().front().id);
}

void HelpWindow::showTopic(const QString& id)
{
    m_field->clear();
    const QString wanted = findHelpTopic(id) ? id : helpTopics().front().id;
    for (int row = 0; row < m_list->count(); ++row)
        if (m_list->item(row)->data(Qt::UserRole).toString() == wanted)
            m_list->setCurrentRow(row);
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
    if (first && (!m_list->currentItem() || m_list->currentItem()->isHidden()))
        m_list->setCurrentItem(first);
}

void HelpWindow::refresh()
{
    const auto* item = m_list->currentItem();
    const auto* topic = item ? findHelpTopic(item->data(Qt::UserRole).toString()) : nullptr;
    if (!topic)
        return;
    m_text->setSearchPaths({topic->folder});
    m_text->setMarkdown(QStringLiteral("## %1\n\n%2").arg(topic->title, shownText(*topic)));
    spaceParagraphs();
    fitPictures();
}

void HelpWindow::follow(const QUrl& link)
{
    const auto* item = m_list->currentItem();
    const auto* from = item ? findHelpTopic(item->data(Qt::UserRole).toString()) : nullptr;
    if (!from)
        return;
    const HelpPlace place = helpPlace(*from, link.toString());
    if (!place.topic) {
        QDesktopServices::openUrl(
            link.scheme().isEmpty() ? QUrl::fromLocalFile(QDir(from->folder).filePath(link.path()))
                                    : link);
        return;
    }
    if (place.topic != from)
        showTopic(place.topic->id);
    if (!place.heading.isEmpty())
        scrollTo(place.heading);
}

void HelpWindow::scrollTo(const QString& heading)
{
    const auto* document = m_text->document();
    for (auto block = document->begin(); block.isValid(); block = block.next())
        if (block.blockFormat().headingLevel() > 0 && headingAnchor(block.text()) == heading) {
            const QRectF place = document->documentLayout()->blockBoundingRect(block);
            m_text->verticalScrollBar()->setValue(qRound(place.top()));
            return;
        }
}

void HelpWindow::spaceParagraphs()
{
    QTextBlockFormat airy;
    airy.setBottomMargin(kMargin / 2.0);
    airy.setLineHeight(130, QTextBlockFormat::ProportionalHeight);
    auto* document = m_text->document();
    for (auto block = document->begin(); block.isValid(); block = block.next())
        if (!block.blockFormat().nonBreakableLines()) // lines of code stay together
            QTextCursor(block).mergeBlockFormat(airy);
}

void HelpWindow::fitPictures()
{
    const int room = m_text->viewport()->width() - 2 * kMargin;
    auto* document = m_text->document();
    for (auto block = document->begin(); block.isValid(); block = block.next())
        for (auto it = block.begin(); !it.atEnd(); ++it) {
            auto image = it.fragment().charFormat().toImageFormat();
            if (!image.isValid() || room < 1)
                continue;
            QTextCursor cursor(document);
            cursor.setPosition(it.fragment().position());
            cursor.setPosition(it.fragment().position() + it.fragment().length(),
                               QTextCursor::KeepAnchor);
            image.setWidth(room);
            cursor.setCharFormat(image);
            break; // the block's fragments are other ones now
        }
}

} // namespace qs
