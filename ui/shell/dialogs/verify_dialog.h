// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/base/result.h"
#include "engine/verify/certificate.h"
#endif

#include <QDialog>
#include <QPointer>

class QCheckBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QTreeWidget;

namespace qs {

class JobRunner;
class Workspace;
struct Progress;

/// Runs the last written exports in their runtimes, on the engine's lane, and shows the
/// certificate: a row for each file and runtime, with failures, missing packages and differing
/// integers below it. Closing the dialog cancels. GUI thread only.
class VerifyDialog : public QDialog
{
    Q_OBJECT

public:
    /// There must be current exports (`canVerify`).
    VerifyDialog(Workspace& workspace, QWidget* parent);
    ~VerifyDialog() override;

private:
    void start();
    void showProgress(const Progress& progress);
    void showResult(const Result<Certificate>& result);
    void showRows(const Certificate& certificate);
    void setRunning(bool running);
    /// One box for each runtime.
    QWidget* buildRuntimes();
    std::vector<std::string> runtimesAsked() const;

    Workspace& m_workspace;
    QPointer<JobRunner> m_jobs;
    QLineEdit* m_data;
    QLineEdit* m_python;
    std::vector<std::pair<std::string, QCheckBox*>> m_runtimes;
    QCheckBox* m_speed = nullptr;
    QTreeWidget* m_rows;
    QLabel* m_summary;
    QProgressBar* m_progress;
    QPushButton* m_start;
    QPushButton* m_cancel;
};

/// True if there are exports of the current decisions.
bool canVerify(const Workspace& workspace);

} // namespace qs
