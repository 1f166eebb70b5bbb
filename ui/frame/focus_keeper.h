// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>
#include <QWidget>

namespace qs {

/// Keeps the keyboard where work goes on. When the widget that has it is hidden or deleted (a
/// button whose choice was taken), Qt hands it to whatever comes next in the order of Tab, often a
/// button that closes something; here it goes home instead, unless somebody chose a place in the
/// same turn of the event loop. GUI thread only.
class FocusKeeper : public QObject
{
    Q_OBJECT

public:
    /// `home` is a widget of `window`.
    FocusKeeper(QWidget* window, QWidget* home);

private:
    void follow(QWidget* old, QWidget* now);

    QPointer<QWidget> m_window, m_home;
};

} // namespace qs
