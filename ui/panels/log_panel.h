// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/log.h"

#include <QPlainTextEdit>

namespace qs {

/// What the engine had to say, one line each. `add` may be called from any thread.
class LogPanel : public QPlainTextEdit
{
    Q_OBJECT

public:
    explicit LogPanel(QWidget* parent = nullptr);
    void add(LogLevel level, const QString& line);
};

} // namespace qs
