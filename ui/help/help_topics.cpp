// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/help_topics.h"

#include "engine/configure/resource_folder.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QTextDocument>
#include <QVariant>

#include <algorithm>

namespace qs {

namespace {

constexpr const char* kTopicProperty = "helpTopic";

QString textOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// Ids of the pages that a Markdown text links to.
std::vector<QString> linkedPages(const QString& text)
{
    static const QRegularExpression link(QStringLiteral(R"(\]\((?:[\w./-]*/)?([\w-]+)\.md\))"));
    std::vector<QString> out;
    for (auto it = link.globalMatch(text); it.hasNext();)
        if (const QString id = it.next().captured(1); id != QLatin1String("README"))
            out.push_back(id);
    return out;
}

HelpTopic readPage(const QString& path, const QString& section)
{
    const QFileInfo info(path);
    const QString text = textOf(path);
    const auto end = text.indexOf(QLatin1Char('\n'));
    HelpTopic topic {info.completeBaseName(),
                     section,
                     text.left(end).remove(QStringLiteral("# ")).trimmed(),
                     end < 0 ? QString() : text.mid(end).trimmed(),
                     info.path(),
                     {}};
    topic.related = linkedPages(topic.text);
    return topic;
}

std::vector<HelpTopic> readGuide(const QString& folder)
{
    static const QRegularExpression entry(QStringLiteral(R"(^- \[.*\]\(([\w./-]+\.md)\)$)"));
    std::vector<HelpTopic> out;
    QString section;
    for (const QString& line : textOf(folder + QStringLiteral("/index.md")).split(u'\n')) {
        if (line.startsWith(QLatin1String("## ")))
            section = line.mid(3);
        else if (const auto match = entry.match(line); match.hasMatch())
            out.push_back(readPage(folder + QLatin1Char('/') + match.captured(1), section));
    }
    if (out.empty())
        out.push_back({QStringLiteral("start"),
                       {},
                       QObject::tr("The guide is not here"),
                       QObject::tr("Its pages are looked for in `%1`. Install the program anew, or "
                                   "set QUANTSCOPE_RESOURCES to the folder that holds them.")
                           .arg(QDir::toNativeSeparators(folder)),
                       folder,
                       {}});
    return out;
}

} // namespace

QString HelpTopic::summary() const
{
    QTextDocument plain;
    plain.setMarkdown(text.section(QStringLiteral("\n\n"), 0, 0));
    return plain.toPlainText().simplified();
}

const std::vector<HelpTopic>& helpTopics()
{
    static const std::vector<HelpTopic> topics
        = readGuide(QString::fromStdString((resourceFolder() / "help").string()));
    return topics;
}

const HelpTopic* findHelpTopic(const QString& id)
{
    const auto& topics = helpTopics();
    const auto found = std::find_if(topics.begin(), topics.end(),
                                    [&](const HelpTopic& topic) { return topic.id == id; });
    return found == topics.end() ? nullptr : &*found;
}

void setHelpTopic(QWidget* widget, const char* id)
{
    widget->setProperty(kTopicProperty, QString::fromLatin1(id));
}

const HelpTopic* helpTopicAt(const QWidget* widget)
{
    for (; widget; widget = widget->parentWidget())
        if (const auto id = widget->property(kTopicProperty); id.isValid())
            return findHelpTopic(id.toString());
    return nullptr;
}

} // namespace qs
