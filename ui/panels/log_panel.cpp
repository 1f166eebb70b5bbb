// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/log_panel.h"

#include "ui/style/theme.h"

#include <QMetaObject>
#include <QTime>

namespace qs {

LogPanel::LogPanel(QWidget* parent)
    : QPlainTextEdit(parent)
{
    setObjectName(QStringLiteral("logPanel"));
    setReadOnly(true);
    setFont(monoFont(11));
    setMaximumBlockCount(5000);
    setPlaceholderText(tr("Notes and warnings of the engine appear here"));
}

void LogPanel::add(LogLevel level, const QString& line)
{
    if (level == LogLevel::Debug)
        return;
    const bool warning = level == LogLevel::Warning;
    append(warning ? tr("⚠ warning: ") : QString(), line, warning ? theme().warning : theme().text);
}

void LogPanel::addError(const QString& line)
{
    append(tr("✕ error: "), line, theme().danger);
}

void LogPanel::append(const QString& mark, const QString& line, const QColor& ink)
{
    const QString stamp = QTime::currentTime().toString(QStringLiteral("HH:mm:ss"));
    const QString html = QStringLiteral("<span style=\"color: %1; white-space: pre-wrap\">%2  %3"
                                        "</span>")
                             .arg(ink.name(), stamp, (mark + line).toHtmlEscaped());
    QMetaObject::invokeMethod(
        this, [this, html] { appendHtml(html); }, Qt::AutoConnection);
}

} // namespace qs
