// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QVBoxLayout;

namespace qs {

/// What the middle shows before a model is open: what this is for and how to begin. GUI thread
/// only.
class EmptyState : public QWidget
{
    Q_OBJECT

public:
    explicit EmptyState(QWidget* parent = nullptr);
    /// A file hovers over the window.
    void setDropping(bool dropping);
    void setRecentFiles(const QStringList& files);

Q_SIGNALS:
    void openWanted();
    void fileWanted(const QString& path);

private:
    QVBoxLayout* m_recent;
};

/// The shipped sample model; empty where it is missing.
QString samplePath();

} // namespace qs
