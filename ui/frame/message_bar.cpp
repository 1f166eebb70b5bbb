// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/frame/message_bar.h"

#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QFileInfo>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

namespace qs {

namespace {

/// Returns the name of an existing file; of a missing one the whole path, which shows misspellings.
QString placeText(const QString& path)
{
    const QFileInfo file(path);
    return file.exists() ? file.fileName() : path;
}

/// Returns the engine's text with a capital letter at the start.
QString sentence(const std::string& words)
{
    QString out = QString::fromStdString(words);
    if (!out.isEmpty())
        out[0] = out[0].toUpper();
    return out;
}

} // namespace

MessageBar::MessageBar(QWidget* parent)
    : QWidget(parent)
    , m_icon(new QLabel(this))
    , m_headline(new QLabel(this))
    , m_detail(new QLabel(this))
    , m_goto(new QPushButton(this))
    , m_buttons(makeHBox(nullptr, {}, 8))
{
    setObjectName(QStringLiteral("messageBar"));
    setAttribute(Qt::WA_StyledBackground);
    auto* row = makeHBox(this, {14, 8, 10, 8}, 10);
    m_headline->setObjectName(QStringLiteral("messageHeadline"));
    m_detail->setObjectName(QStringLiteral("messageDetail"));
    m_headline->setFont(uiFont(12.5, 600));
    for (auto* label : {m_headline, m_detail}) {
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    auto* lines = makeVBox(nullptr, {}, 1);
    addItems(*lines, {m_headline, m_detail});
    auto* close = new QToolButton(this);
    close->setObjectName(QStringLiteral("messageClose"));
    close->setText(QStringLiteral("✕"));
    close->setAutoRaise(true);
    close->setToolTip(tr("Close this message"));
    m_goto->setObjectName(QStringLiteral("messageGoto"));
    row->addWidget(m_icon, 0, Qt::AlignTop);
    row->addLayout(lines, 1);
    addItems(*row, {m_goto, m_buttons, close});
    connect(close, &QToolButton::clicked, this, &MessageBar::dismiss);
    connect(m_goto, &QPushButton::clicked, this, [this] { Q_EMIT nodeClicked(m_node); });
    hide();
}

void MessageBar::setWording(std::function<QString(const QString&)> titled)
{
    m_titled = std::move(titled);
}

QString MessageBar::titled(const QString& text) const
{
    return m_titled ? m_titled(text) : text;
}

QString MessageBar::titleOfNode(const QString& name) const
{
    const QString quoted = titled(QStringLiteral("'%1'").arg(name));
    return quoted.mid(1, quoted.size() - 2);
}

void MessageBar::showError(const QString& what, const Error& error, bool canShow,
                           const QString& topic)
{
    const QString cause = sentence(error.message);
    QStringList where;
    if (!error.file.empty())
        where << placeText(QString::fromStdString(error.file));
    if (!error.node.empty())
        where << tr("node %1").arg(titleOfNode(QString::fromStdString(error.node)));
    QString headline = tr("%1 failed").arg(what);
    if (!where.isEmpty())
        headline = tr("%1 at %2").arg(headline, where.join(QStringLiteral(", ")));
    QString detail = cause;
    if (!error.hint.empty())
        detail += QStringLiteral(". ") + sentence(error.hint);
    showMessage(Kind::Error, headline, detail);
    m_topic = topic;
    m_headline->setToolTip(QString::fromStdString(error.file));
    if (canShow)
        nameNode(QString::fromStdString(error.node));
}

void MessageBar::nameNode(const QString& node)
{
    m_node = node;
    m_goto->setText(tr("Show %1").arg(titleOfNode(m_node)));
    m_goto->setToolTip(tr("Select the node and bring it into view"));
    m_goto->setVisible(!m_node.isEmpty());
}

void MessageBar::showChoices(Kind kind, const QString& topic, const QString& headline,
                             const QString& detail, const QString& node,
                             std::vector<Choice> choices)
{
    showMessage(kind, headline, detail);
    m_topic = topic;
    nameNode(node);
    int number = 0;
    for (Choice& choice : choices) {
        auto* button = new QPushButton(choice.text, this);
        button->setObjectName(QStringLiteral("messageChoice%1").arg(number++));
        button->setToolTip(choice.toolTip);
        connect(button, &QPushButton::clicked, this, [this, act = std::move(choice.act)] {
            // Copy the function: closing the message deletes the button.
            const auto chosen = act;
            dismiss();
            chosen();
        });
        m_buttons->addWidget(button);
    }
}

void MessageBar::clearChoices()
{
    while (auto* item = m_buttons->takeAt(0)) {
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
}

void MessageBar::dismissTopic(const QString& topic)
{
    if (isVisible() && m_topic == topic)
        dismiss();
}

void MessageBar::showMessage(Kind kind, const QString& headline, const QString& detail)
{
    const Theme& t = theme();
    const QColor fill = kind == Kind::Error ? t.dangerFill
        : kind == Kind::Warning             ? t.warningFill
                                            : t.accentSoft;
    const QColor ink = kind == Kind::Error ? t.danger
        : kind == Kind::Warning            ? t.warning
                                           : t.accent;
    setStyleSheet(
        QStringLiteral("QWidget#messageBar { background: %1; border-bottom: 1px solid %2; }"
                       "QLabel { background: transparent; }")
            .arg(fill.name(), t.border.name()));
    m_icon->setText(kind == Kind::Note ? QStringLiteral("ℹ") : QStringLiteral("⚠"));
    m_icon->setStyleSheet(QStringLiteral("color: %1; font-size: 15px;").arg(ink.name()));
    m_headline->setText(titled(headline));
    m_headline->setToolTip({});
    m_detail->setText(titled(detail));
    m_detail->setVisible(!detail.isEmpty());
    m_node.clear();
    m_topic.clear();
    m_goto->hide();
    clearChoices();
    show();
}

void MessageBar::dismiss()
{
    m_node.clear();
    m_topic.clear();
    clearChoices();
    hide();
}

QString MessageBar::headline() const
{
    return m_headline->text();
}

QString MessageBar::detail() const
{
    return m_detail->text();
}

} // namespace qs
