// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/runs/run_store.h"
#include "engine/runs/run_table.h"
#include "ui/runs/unsaved_runs.h"
#include "ui/session/workspace.h"
#endif

#include <QObject>

#include <memory>

namespace qs {

class OpenedFiles;

/// The runs of the open model or project: stored beside the project, or in `UnsavedRuns` until
/// there is one. Stores every comparison, named after the decision that led to it. Holds the choice
/// of the runs side by side and of the run that the views show instead of the current result. GUI
/// thread only.
class RunLibrary : public QObject
{
    Q_OBJECT

public:
    RunLibrary(Workspace& workspace, const OpenedFiles& files, QObject* parent);

    /// Reads the folder again: another program may have kept or removed runs.
    void reload() { refresh(); }
    /// All runs, the newest first.
    const std::vector<RunEntry>& runs() const { return m_runs; }
    /// The run of a folder; null without one.
    const RunEntry* tryRun(const QString& folder) const;
    QString folder() const;
    /// False if another window has the project open: then runs are not stored or changed.
    bool canWrite() const;
    /// How a run relates to the open model: "current decisions", "other decisions", "another
    /// model", "another program", "damaged".
    QString standing(const RunEntry& run) const;

    /// The default name of the current result: the decisions since the previous result, else all
    /// decisions.
    QString automaticName() const;
    /// Stores the current result under a name that the user chose; false without a current result,
    /// or if `canWrite` is false.
    bool keepCurrent(const QString& name);
    /// Compares a quantized file of any origin with the model and stores that as a run.
    void addFile(const QString& path);
    /// Cancels `addFile`.
    void cancel();
    void rename(const QString& folder, const QString& name);
    void setNote(const QString& folder, const QString& note);
    void remove(const QString& folder);
    /// Makes the run's recipe the current one, as one undoable step.
    void useDecisions(const QString& folder);

    /// Puts two to four runs side by side, the oldest as A; for another number, none.
    void putSideBySide(const QStringList& folders);
    /// The table of the runs side by side; null without them.
    const std::shared_ptr<const RunTable>& table() const { return m_table; }
    /// Progress of reading the runs, in [0, 1]; nothing if none are being read.
    const std::optional<double>& readShare() const { return m_readShare; }
    /// The letter of a run that is side by side with others: "A".
    QString letterOf(const QString& folder) const;

    /// Shows the next of the runs side by side in every view, A after the last; false without such
    /// runs.
    bool showNext();
    void showCurrent();

    /// Moves the runs after the project was saved under a new name.
    void followProject();

Q_SIGNALS:
    void runsChanged();
    void tableChanged();
    /// `readShare` changed.
    void readingChanged();
    /// Another run, or the current result, is shown.
    void shownChanged();
    void failed(const QString& what, const qs::Error& error);
    /// One line on the progress.
    void told(const QString& text);

private:
    struct Keeping
    {
        RunLabel label;
        bool isAutomatic = false;
    };
    void refresh();
    void settle();
    void followResult();
    void keepResult();
    void addMeasured();
    void keep(const Keeping& keeping);
    void kept(const Result<RunEntry>& run, const QString& folder, bool isAutomatic);
    QString writableFolder();
    void report(const QString& what, const Result<void>& done);
    void show(std::size_t run);
    void followReading(const QString& tag, const Progress& progress);

    Workspace& m_workspace;
    const OpenedFiles& m_files;
    std::vector<RunEntry> m_runs;
    std::unique_ptr<UnsavedRuns> m_unsaved; ///< null with a project, and before the first run
    QString m_project, m_opened; ///< owners of the runs
    QString m_movedFrom; ///< folder of the runs before the project was saved
    int m_model = 0;
    int m_jobs = 0; ///< counter for unique job tags
    QStringList m_adding; ///< tags of files that are being compared
    ComparisonPtr m_seen; ///< the last seen current result
    std::optional<Recipe> m_before, m_now; ///< recipes of the previous and the current result
    QStringList m_wanted; ///< folders of the runs that are, or will be, side by side
    QStringList m_folders; ///< of `m_table`
    std::shared_ptr<const RunTable> m_table;
    std::optional<double> m_readShare;
};

} // namespace qs
