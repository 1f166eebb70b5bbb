// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPointer>
#include <QWidget>

namespace qs {

/// Returns the focus to `home` when the focus widget is hidden or deleted, as a button after its
/// choice. Qt would give it to the next widget in tab order, often a close button. Does nothing if
/// the focus was set elsewhere in the same turn of the event loop. GUI thread only.
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
