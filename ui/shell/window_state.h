// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>

namespace qs {

class MainWindow;

/// What a project keeps of the window: the style rules, as the text of a JSON object.
QByteArray windowStateOf(MainWindow& window);
/// Takes over what a project kept; what it does not mention stays as it is.
void applyWindowState(MainWindow& window, const QByteArray& state);

} // namespace qs
