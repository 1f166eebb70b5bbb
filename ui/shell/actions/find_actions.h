// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace qs {

class MainWindow;

/// What finds nodes: the search field with its list, the way through the matches, bookmarks. GUI
/// thread only.
class FindActions : public QObject
{
    Q_OBJECT

public:
    FindActions(MainWindow& window, QObject* parent);

private:
    void step(int direction);
    void nextBookmark();

    MainWindow& m_window;
};

} // namespace qs
