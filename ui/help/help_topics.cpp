// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/help_topics.h"

#include "engine/configure/resource_folder.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <QUrl>
#include <QVariant>

#include <algorithm>

namespace qs {

namespace {

const QLatin1String kGlossary("glossary");

QString textOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// Returns the ids of the pages and glossary entries that a Markdown text links to.
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

std::vector<HelpSection> sectionsOf(const QString& text)
{
    std::vector<HelpSection> out;
    for (const QString& line : text.split(u'\n'))
        if (line.startsWith(QLatin1String("##"))) {
            const QString heading = plainHelpText(line.section(u' ', 1));
            out.push_back({heading, headingAnchor(heading)});
        }
    return out;
}

/// Makes a topic from Markdown whose first line is the heading with the title.
HelpTopic makeTopic(const QFileInfo& file, const QString& section, const QString& text)
{
    static const QRegularExpression marks(QStringLiteral("^#+ "));
    const QString page = file.completeBaseName();
    const QString title = text.section(u'\n', 0, 0).remove(marks).trimmed();
    const QString body = text.section(u'\n', 1).trimmed();
    return {
        page, page, section, title, body, file.path(), linkedTopics(body, page), sectionsOf(body)};
}

/// Returns the glossary's introduction, then its entries (headings of level 3), each under the
/// preceding heading of level 2.
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

/// Returns the topics of one page.
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
                       QObject::tr("The guide was not found"),
                       QObject::tr("Its pages belong in `%1`. Install the program again, or set "
                                   "QUANTSCOPE_RESOURCES to the folder that contains them.")
                           .arg(QDir::toNativeSeparators(folder)),
                       folder,
                       {},
                       {}});
    return out;
}

/// True if the heading's parts are a prefix of the path.
bool beginsPath(const QStringList& heading, const QStringList& path)
{
    if (heading.size() > path.size())
        return false;
    for (qsizetype i = 0; i < heading.size(); ++i)
        if (heading[i] != path[i] && heading[i] != heading[i].toUpper())
            return false;
    return true;
}

/// Splits "patterns[0].pattern" into "patterns", "[0]", "pattern".
QStringList partsOfHeading(QString heading)
{
    heading.replace(QLatin1Char('['), QLatin1String(".["));
    return heading.split(QLatin1Char('.'), Qt::SkipEmptyParts);
}

} // namespace

QString plainHelpText(const QString& markdown)
{
    static const QRegularExpression link(QStringLiteral(R"(\[([^\]]*)\]\([^)\s]+\))"));
    static const QRegularExpression marks(QStringLiteral(R"(`|\*\*|(?<![\w*])\*(?=\w)|(?<=\w)\*)"));
    QString out = markdown;
    return out.replace(link, QStringLiteral("\\1")).remove(marks).simplified();
}

QString headingAnchor(const QString& heading)
{
    static const QRegularExpression other(QStringLiteral(R"([^\w -])"),
                                          QRegularExpression::UseUnicodePropertiesOption);
    return heading.toLower().remove(other).replace(u' ', u'-');
}

QString helpPlaceOfLink(const HelpTopic& from, const QString& link)
{
    const QUrl url(link);
    const bool isHere = url.path().isEmpty();
    if (!url.scheme().isEmpty() || (!isHere && !url.path().endsWith(QLatin1String(".md"))))
        return {};
    const QString page = isHere ? from.page : QFileInfo(url.path()).completeBaseName();
    const bool isEntry = page == kGlossary && url.hasFragment(); // a separate topic
    const QString id = isEntry ? url.fragment() : page;
    if (!findHelpTopic(id))
        return {};
    return isEntry || !url.hasFragment() ? id : id + QLatin1Char('#') + url.fragment();
}

QString HelpTopic::summary() const
{
    return plainHelpText(text.section(QStringLiteral("\n\n"), 0, 0));
}

bool HelpTopic::hasSection(const QString& anchor) const
{
    return std::any_of(sections.begin(), sections.end(),
                       [&](const HelpSection& one) { return one.anchor == anchor; });
}

const std::vector<HelpTopic>& helpTopics()
{
    static const std::vector<HelpTopic> topics
        = readGuide(QString::fromStdString((resourceFolder() / "help").string()));
    return topics;
}

const HelpTopic* findHelpTopic(const QString& place)
{
    const QString id = place.section(QLatin1Char('#'), 0, 0);
    const auto& topics = helpTopics();
    const auto found = std::find_if(topics.begin(), topics.end(),
                                    [&](const HelpTopic& topic) { return topic.id == id; });
    return found == topics.end() ? nullptr : &*found;
}

QString helpPlaceOfKey(const QString& page, const QStringList& path)
{
    static const QRegularExpression index(QStringLiteral(R"(^\[\d+\]$)"));
    const HelpTopic* topic = findHelpTopic(page);
    QStringList wanted = path;
    wanted.replaceInStrings(index, QStringLiteral("[0]"));
    QString best = page;
    qsizetype length = 0;
    for (const HelpSection& one : topic ? topic->sections : std::vector<HelpSection>())
        if (const QStringList parts = partsOfHeading(one.heading);
            parts.size() > length && beginsPath(parts, wanted)) {
            length = parts.size();
            best = page + QLatin1Char('#') + one.anchor;
        }
    return best;
}

QString helpPlaceAt(const QWidget* widget)
{
    for (; widget; widget = widget->parentWidget()) {
        if (const auto place = widget->property("helpPlace"); place.isValid())
            return place.toString();
        if (const QString place = helpPlaceOfName(widget->objectName()); !place.isEmpty())
            return place;
    }
    return {};
}

} // namespace qs
