// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QWidget;

namespace qs {

/// Asks where the model of `project` is by now, which was at `was`; empty where the user gives up.
/// GUI thread only.
QString askWhereModelIs(QWidget* parent, const QString& project, const QString& was);

/// Asks where the project's data are by now; empty where the user gives up. GUI thread only.
QString askWhereDataAre(QWidget* parent, const QString& project);

/// Asks whether a project may be opened with the file `chosen`, which is not its model. GUI thread
/// only.
bool mayOpenOtherModel(QWidget* parent, const QString& chosen);

} // namespace qs
