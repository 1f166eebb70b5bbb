// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

#include <vector>

namespace qs {

class CommandPalette;
class MainWindow;
struct PaletteItem;

/// What the command palette offers: every action of the menus, backends, recent files and help
/// topics; or, to assign, every qconfig at every scope of the selection. GUI thread only.
class PaletteActions : public QObject
{
    Q_OBJECT

public:
    PaletteActions(MainWindow& window, QObject* parent);

Q_SIGNALS:
    void helpWanted(const QString& topicId);

private:
    std::vector<PaletteItem> commands();
    std::vector<PaletteItem> assignments();

    MainWindow& m_window;
    CommandPalette* m_palette;
};

} // namespace qs
