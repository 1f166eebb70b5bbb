// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/help/help_topics.h"

#include <QRegularExpression>

namespace qs {

namespace {

bool isTableRule(const QString& line)
{
    return line.startsWith(QLatin1String("| ---"));
}

/// True for a first column with names, such as "`prepare_fx`, ...", but not JSON.
bool isTermCell(const QString& cell)
{
    static const QRegularExpression name(QStringLiteral(R"(`[\w.:*-])"));
    return cell.contains(name);
}

/// Appends the terms of one page.
void addTerms(const HelpTopic& topic, std::vector<HelpTerm>& out)
{
    const QStringList lines = topic.text.split(u'\n');
    QString place = topic.id;
    for (qsizetype i = 0; i < lines.size(); ++i) {
        const QString& line = lines[i];
        if (line.startsWith(QLatin1String("##"))) {
            const QString heading = plainHelpText(line.section(u' ', 1));
            place = topic.id + QLatin1Char('#') + headingAnchor(heading);
            if (line.contains(QLatin1Char('`')))
                out.push_back({heading, plainHelpText(lines.value(i + 2)), place});
            continue;
        }
        const bool isRow = line.startsWith(QLatin1String("| ")) && !isTableRule(line)
            && !isTableRule(lines.value(i + 1));
        const QStringList cells = line.split(QStringLiteral(" | "));
        if (isRow && cells.size() > 1 && isTermCell(cells[0]))
            out.push_back({plainHelpText(cells[0].mid(2)),
                           plainHelpText(cells[1]).remove(QStringLiteral(" |")), place});
    }
}

} // namespace

const std::vector<HelpTerm>& helpTerms()
{
    static const std::vector<HelpTerm> terms = [] {
        std::vector<HelpTerm> out;
        for (const HelpTopic& topic : helpTopics())
            addTerms(topic, out);
        return out;
    }();
    return terms;
}

} // namespace qs
