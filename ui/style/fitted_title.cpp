// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/style/fitted_title.h"

#include <QFontMetricsF>
#include <QStringList>

namespace qs {

namespace {

/// Returns versions of the title, each shorter than the previous one.
QStringList shorterTitles(const QString& title)
{
    const QString module = QStringLiteral(" · "), fused = QStringLiteral(" + ");
    QString path = title.section(QLatin1Char(' '), 0, 0);
    const QString rest = title.mid(path.size());
    QStringList out;
    while (true) {
        out << path + rest;
        if (rest.contains(fused) && !title.contains(module))
            out << (path + rest).section(fused, 0, 0) + QStringLiteral(" + …");
        const auto dot = path.indexOf(QLatin1Char('.'));
        if (dot < 0)
            break;
        path = path.mid(dot + 1);
    }
    const QString last = title.contains(module) ? rest.section(module, 1) : path;
    const QString first = last.section(fused, 0, 0);
    if (first != last && title.contains(module))
        out << last << first + QStringLiteral(" + …");
    return out << first;
}

} // namespace

QString fittedTitle(const QFontMetricsF& metrics, const QString& title, double width)
{
    if (metrics.horizontalAdvance(title) <= width)
        return title;
    QString text;
    for (const QString& one : shorterTitles(title)) {
        text = one;
        if (metrics.horizontalAdvance(text) <= width)
            return text;
    }
    return metrics.elidedText(text, Qt::ElideRight, width);
}

} // namespace qs
