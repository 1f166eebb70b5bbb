// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/log_panel.h"

#include "ui/shell/theme.h"

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
    setPlaceholderText(QStringLiteral("Notes and warnings of the engine appear here"));
}

void LogPanel::add(LogLevel level, const QString& line)
{
    if (level == LogLevel::Debug)
        return;
    const QString stamp = QTime::currentTime().toString(QStringLiteral("HH:mm:ss"));
    const QString text
        = QStringLiteral("%1  %2%3")
              .arg(stamp, level == LogLevel::Warning ? QStringLiteral("warning: ") : QString(),
                   line);
    QMetaObject::invokeMethod(
        this, [this, text] { appendPlainText(text); }, Qt::AutoConnection);
}

} // namespace qs
