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

/// The runs that belong to what is open: kept beside its project, or in `UnsavedRuns` until
/// there is one. Every comparison that is made is kept, named by the decision that led to it; the
/// runs that are side by side, and the one that the views show in place of the current result, are
/// chosen here. GUI thread only.
class RunLibrary : public QObject
{
    Q_OBJECT

public:
    RunLibrary(Workspace& workspace, const OpenedFiles& files, QObject* parent);

    /// Reads the folder again: another program may have kept or removed runs.
    void reload() { refresh(); }
    /// The newest first.
    const std::vector<RunEntry>& runs() const { return m_runs; }
    /// Null for a folder that none of them has.
    const RunEntry* tryRun(const QString& folder) const;
    QString folder() const;
    /// Another window has the project open: nothing is kept or changed.
    bool canWrite() const;
    /// What a run is of, beside what is open: "current decisions", "other decisions", "another
    /// model", "another program", "damaged".
    QString standing(const RunEntry& run) const;

    /// What the current result is called unless a person names it: by what was decided since the
    /// one before, else by all decisions.
    QString automaticName() const;
    /// Keeps the current result under a name of the user's; false without a current result.
    bool keepCurrent(const QString& name);
    /// Compares a quantized file of any origin with the model and keeps that as a run.
    void addFile(const QString& path);
    /// Stops that.
    void cancel();
    void rename(const QString& folder, const QString& name);
    void setNote(const QString& folder, const QString& note);
    void remove(const QString& folder);
    /// Makes the run's recipe the one at hand, as one step that can be undone.
    void useDecisions(const QString& folder);

    /// Puts two to four runs side by side, the oldest as A; with fewer or more none are.
    void putSideBySide(const QStringList& folders);
    /// Null where no runs are side by side.
    const std::shared_ptr<const RunTable>& table() const { return m_table; }
    /// How much of the runs that go side by side is read, in [0, 1]; nothing where none are read.
    const std::optional<double>& readShare() const { return m_readShare; }
    /// "A" of a run that is side by side with others.
    QString letterOf(const QString& folder) const;

    /// Shows the next of the runs that are side by side in every view, A after the last; false
    /// where none are.
    bool showNext();
    void showCurrent();

    /// The project was saved under a name: its runs go along.
    void followProject();

Q_SIGNALS:
    void runsChanged();
    void tableChanged();
    /// `readShare` has.
    void readingChanged();
    /// Another run, or the current result, is shown.
    void shownChanged();
    void failed(const QString& what, const qs::Error& error);
    /// One line on what goes on.
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
    QString m_project, m_opened; ///< that the runs belong to
    QString m_movedFrom; ///< where they lay before the project got its place
    int m_model = 0;
    int m_jobs = 0; ///< for tags that no other job has
    QStringList m_adding; ///< tags of files that are being compared
    ComparisonPtr m_seen; ///< the last current result that was looked at
    std::optional<Recipe> m_before, m_now; ///< of the current results before and now
    QStringList m_wanted; ///< folders of the runs that are, or will be, side by side
    QStringList m_folders; ///< of `m_table`
    std::shared_ptr<const RunTable> m_table;
    std::optional<double> m_readShare;
};

} // namespace qs
