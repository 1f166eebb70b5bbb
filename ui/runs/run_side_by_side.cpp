// SPDX-License-Identifier: GPL-3.0-or-later
// RunLibrary: the runs side by side, and the shown run.
#include "ui/runs/run_library.h"
#include "ui/session/text.h"

#include <algorithm>
#include <tuple>

namespace qs {

namespace {

const QString kTableTag = QStringLiteral("runTable");

using TablePtr = std::shared_ptr<const RunTable>;

Result<TablePtr> readTable(const QStringList& folders, JobContext& job)
{
    std::vector<RunRecordPtr> runs;
    for (const QString& folder : folders) {
        QS_CHECK(job.check());
        job.report("runs", folder.toStdString(), double(runs.size()) / double(folders.size() + 1));
        QS_TRY(RunRecord run, readRun(folder.toStdString()));
        runs.push_back(std::make_shared<const RunRecord>(std::move(run)));
    }
    job.report("runs", "table", double(runs.size()) / double(folders.size() + 1));
    QS_TRY(RunTable table, matchRuns(std::move(runs)));
    return std::make_shared<const RunTable>(std::move(table));
}

} // namespace

void RunLibrary::putSideBySide(const QStringList& folders)
{
    std::vector<const RunEntry*> runs;
    for (const QString& wanted : folders)
        if (const RunEntry* run = tryRun(wanted); run && run->problem.empty())
            runs.push_back(run);
    std::sort(runs.begin(), runs.end(), [](const RunEntry* a, const RunEntry* b) {
        return std::tie(a->label.created, b->folder) < std::tie(b->label.created, a->folder);
    });
    QStringList wanted;
    if (runs.size() >= kLeastRuns && runs.size() <= kMostRuns)
        for (const RunEntry* run : runs)
            wanted << toQString(run->folder);
    if (wanted == m_wanted)
        return;
    m_wanted = wanted;
    showCurrent();
    m_table.reset();
    m_folders.clear();
    m_readShare = wanted.isEmpty() ? std::nullopt : std::optional(0.0);
    Q_EMIT tableChanged();
    auto& jobs = m_workspace.pipeline().jobs();
    jobs.cancel(kTableTag);
    if (wanted.isEmpty())
        return;
    jobs.run(
        Lane::Pool, kTableTag, [wanted](JobContext& job) { return readTable(wanted, job); }, this,
        [this, wanted](Result<TablePtr> table) {
            if (wanted != m_wanted)
                return;
            m_readShare.reset();
            if (!table) {
                m_wanted.clear();
                Q_EMIT readingChanged();
                Q_EMIT failed(tr("Reading the runs"), table.error());
                return;
            }
            m_table = std::move(*table);
            m_folders = wanted;
            Q_EMIT tableChanged();
        });
}

void RunLibrary::followReading(const QString& tag, const Progress& progress)
{
    if (tag != kTableTag || !m_readShare)
        return;
    m_readShare = progress.fraction;
    Q_EMIT readingChanged();
}

QString RunLibrary::letterOf(const QString& folder) const
{
    const qsizetype place = m_wanted.indexOf(folder);
    return place < 0 ? QString() : toQString(runLetter(std::size_t(place)));
}

void RunLibrary::show(std::size_t run)
{
    const auto& model = m_workspace.document().model();
    if (!m_table || !model || run >= m_table->runs().size())
        return showCurrent();
    auto shown = std::make_shared<ShownRun>();
    shown->letter = toQString(runLetter(run));
    shown->folder = m_folders[qsizetype(run)];
    shown->record = m_table->runs()[run];
    shown->comparison = comparisonOf(*shown->record, *model);
    m_workspace.showRun(std::move(shown));
    Q_EMIT shownChanged();
}

bool RunLibrary::showNext()
{
    if (!m_table)
        return false;
    const ShownRunPtr& shown = m_workspace.shownRun();
    const qsizetype at = shown ? m_folders.indexOf(shown->folder) : -1;
    show(std::size_t((at + 1) % m_folders.size()));
    return true;
}

void RunLibrary::showCurrent()
{
    if (!m_workspace.shownRun())
        return;
    m_workspace.showRun(nullptr);
    Q_EMIT shownChanged();
}

} // namespace qs
