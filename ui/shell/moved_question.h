// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

class QWidget;

namespace qs {

/// Asks for the new place of the model of `project`, which was at `was`; empty if the user cancels.
/// GUI thread only.
QString askWhereModelIs(QWidget* parent, const QString& project, const QString& was);

/// Asks for the new place of the project's data; empty if the user cancels. GUI thread only.
QString askWhereDataAre(QWidget* parent, const QString& project);

/// Asks whether a project may be opened with the file `chosen`, which is not its model. GUI thread
/// only.
bool mayOpenOtherModel(QWidget* parent, const QString& chosen);

} // namespace qs
