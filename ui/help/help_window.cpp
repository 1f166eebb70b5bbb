// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/help_window.h"

#include "ui/help/help_topics.h"
#include "ui/style/theme.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QListWidget>
#include <QTextBrowser>
#include <QUrl>
#include <QVBoxLayout>

namespace qs {

HelpWindow::HelpWindow(QWidget* parent)
    : QDialog(parent)
    , m_field(new QLineEdit(this))
    , m_list(new QListWidget(this))
    , m_text(new QTextBrowser(this))
{
    setObjectName(QStringLiteral("helpWindow"));
    setWindowTitle(QStringLiteral("Help"));
    resize(760, 480);
    m_field->setObjectName(QStringLiteral("helpField"));
    m_field->setAccessibleName(QStringLiteral("Find in the help"));
    m_field->setPlaceholderText(QStringLiteral("Find in the help …"));
    m_list->setObjectName(QStringLiteral("helpTopics"));
    m_list->setAccessibleName(QStringLiteral("Help topics"));
    m_list->setSpacing(1);
    m_text->setObjectName(QStringLiteral("helpText"));
    m_text->setAccessibleName(QStringLiteral("Explanation"));
    m_text->setOpenLinks(false);
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->document()->setDocumentMargin(16);
    m_text->setFont(uiFont(13));
    for (const auto& topic : helpTopics()) {
        auto* item = new QListWidgetItem(topic.title, m_list);
        item->setData(Qt::UserRole, topic.id);
    }
    auto* left = new QVBoxLayout;
    left->addWidget(m_field);
    left->addWidget(m_list, 1);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(12, 12, 12, 12);
    row->setSpacing(12);
    row->addLayout(left, 2);
    row->addWidget(m_text, 3);
    connect(m_field, &QLineEdit::textChanged, this, &HelpWindow::filter);
    connect(m_list, &QListWidget::currentItemChanged, this, &HelpWindow::refresh);
    connect(m_text, &QTextBrowser::anchorClicked, this,
            [this](const QUrl& link) { showTopic(link.toString()); });
    m_list->setCurrentRow(0);
}

void HelpWindow::showTopic(const QString& id)
{
    m_field->clear();
    m_list->setCurrentRow(0);
    for (int row = 0; row < m_list->count(); ++row)
        if (m_list->item(row)->data(Qt::UserRole).toString() == id)
            m_list->setCurrentRow(row);
}

void HelpWindow::filter(const QString& text)
{
    QListWidgetItem* first = nullptr;
    for (int row = 0; row < m_list->count(); ++row) {
        auto* item = m_list->item(row);
        const auto* topic = findHelpTopic(item->data(Qt::UserRole).toString());
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
    QStringList links;
    for (const QString& id : topic->related)
        if (const auto* other = findHelpTopic(id))
            links << QStringLiteral("<a href=\"%1\" style=\"color:%2\">%3</a>")
                         .arg(id, theme().accent.name(), other->title.toHtmlEscaped());
    m_text->setHtml(QStringLiteral("<h3>%1</h3><p style=\"line-height:140%\">%2</p>"
                                   "<p style=\"color:%3\">See also: %4</p>")
                        .arg(topic->title.toHtmlEscaped(), topic->text.toHtmlEscaped(),
                             theme().muted.name(), links.join(QStringLiteral(" · "))));
}

} // namespace qs
