// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QTimer>

namespace qs {

class MainWindow;

/// Keeps decisions that nobody saved in a file of the user's own data folder: a second after each
/// step and every half minute. After a crash, opening the same model or project offers them. GUI
/// thread only.
class Autosave : public QObject
{
    Q_OBJECT

public:
    Autosave(MainWindow& window, QObject* parent);

    /// What is open was saved, or its decisions are not wanted.
    void forget();

private:
    void keep();
    void offer();
    void restore(const QString& file);

    MainWindow& m_window;
    QTimer m_soon, m_regular;
};

} // namespace qs
