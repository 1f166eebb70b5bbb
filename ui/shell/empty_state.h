// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QWidget>

#include <vector>

class QVBoxLayout;

namespace qs {

/// The start page, shown before a model is open: the purpose of the program, how to open a model
/// and how to export one in Python, samples and recent files. GUI thread only.
class EmptyState : public QWidget
{
    Q_OBJECT

public:
    explicit EmptyState(QWidget* parent = nullptr);
    /// Sets whether a file is dragged over the window.
    void setDropping(bool dropping);
    void setRecentFiles(const QStringList& files);

Q_SIGNALS:
    void openWanted();
    void fileWanted(const QString& path);

private:
    QWidget* buildOpening();
    QWidget* buildSamples();

    QVBoxLayout* m_recent;
};

/// A small trained network that is shipped with its data.
struct SampleModel
{
    QString path, title;
    QString tip; ///< its effect
};
/// Returns the installed samples, simplest first.
std::vector<SampleModel> sampleModels();
/// Returns the path of the first sample; empty if it is missing.
QString samplePath();

} // namespace qs
