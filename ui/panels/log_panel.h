// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/log.h"

#include <QPlainTextEdit>

namespace qs {

/// Messages of the engine, one line each. `add` may be called from any thread.
class LogPanel : public QPlainTextEdit
{
    Q_OBJECT

public:
    explicit LogPanel(QWidget* parent = nullptr);
    void add(LogLevel level, const QString& line);
    /// Adds the error that stopped a stage. Any thread.
    void addError(const QString& line);

private:
    void append(const QString& mark, const QString& line, const QColor& ink);
};

} // namespace qs
