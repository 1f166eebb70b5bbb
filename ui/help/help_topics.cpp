// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/help_topics.h"

#include "engine/configure/resource_folder.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QTextDocument>
#include <QUrl>
#include <QVariant>

#include <algorithm>

namespace qs {

namespace {

constexpr const char* kTopicProperty = "helpTopic";
const QLatin1String kGlossary("glossary");

QString textOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// Ids of the pages and of the glossary's entries that a Markdown text links to.
std::vector<QString> linkedTopics(const QString& text, const QString& page)
{
    static const QRegularExpression link(
        QStringLiteral(R"(\]\((?:(?:[\w./-]*/)?([\w-]+)\.md)?(?:#([\w-]+))?\))"));
    std::vector<QString> out;
    for (auto it = link.globalMatch(text); it.hasNext();) {
        const auto match = it.next();
        const QString file = match.captured(1).isEmpty() ? page : match.captured(1);
        const QString id
            = file == kGlossary && !match.captured(2).isEmpty() ? match.captured(2) : file;
        if (id != QLatin1String("README") && (file != page || id != page))
            out.push_back(id);
    }
    return out;
}

/// A topic of Markdown that begins with the title, after the marks of a heading.
HelpTopic makeTopic(const QFileInfo& file, const QString& section, const QString& text)
{
    static const QRegularExpression marks(QStringLiteral("^#+ "));
    const QString page = file.completeBaseName();
    const QString title = text.section(u'\n', 0, 0).remove(marks).trimmed();
    const QString body = text.section(u'\n', 1).trimmed();
    return {page, page, section, title, body, file.path(), linkedTopics(body, page)};
}

/// The glossary's beginning, then each of its entries (headings of level 3) under the heading of
/// level 2 before it.
std::vector<HelpTopic> readGlossary(const QFileInfo& file, const QString& section)
{
    static const QRegularExpression heading(QStringLiteral("^(?=##+ )"),
                                            QRegularExpression::MultilineOption);
    std::vector<HelpTopic> out;
    QString under;
    for (const QString& part : textOf(file.filePath()).split(heading, Qt::SkipEmptyParts)) {
        if (part.startsWith(QLatin1String("## "))) {
            under = part.mid(3).trimmed();
            continue;
        }
        out.push_back(makeTopic(file, out.empty() ? section : under, part));
        if (out.size() > 1)
            out.back().id = headingAnchor(out.back().title);
    }
    return out;
}

/// The topics of one page.
std::vector<HelpTopic> readPage(const QString& path, const QString& section)
{
    const QFileInfo file(path);
    if (file.completeBaseName() == kGlossary)
        return readGlossary(file, section);
    return {makeTopic(file, section, textOf(path))};
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
            for (HelpTopic& topic :
                 readPage(folder + QLatin1Char('/') + match.captured(1), section))
                out.push_back(std::move(topic));
    }
    if (out.empty())
        out.push_back({QStringLiteral("first-model"),
                       {},
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

QString headingAnchor(const QString& heading)
{
    static const QRegularExpression other(QStringLiteral(R"([^\w -])"),
                                          QRegularExpression::UseUnicodePropertiesOption);
    return heading.toLower().remove(other).replace(u' ', u'-');
}

HelpPlace helpPlace(const HelpTopic& from, const QString& link)
{
    const QUrl url(link);
    const bool here = url.path().isEmpty();
    if (!url.scheme().isEmpty() || (!here && !url.path().endsWith(QLatin1String(".md"))))
        return {};
    const QString page = here ? from.page : QFileInfo(url.path()).completeBaseName();
    if (page != kGlossary)
        return {findHelpTopic(page), url.fragment()};
    return {findHelpTopic(url.hasFragment() ? url.fragment() : page), {}};
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
