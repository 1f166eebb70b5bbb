// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/cure/search_work.h"

#include "engine/base/files/atomic_file.h"
#include "engine/base/json/json_reader.h"
#include "engine/base/log.h"
#include "engine/pipeline/tune/tune_json.h"
#include "ui/session/jobs/job_runner.h"

#include <stop_token>
#include <utility>

namespace qs {

void SearchSeen::put(const TuneState& state)
{
    const std::scoped_lock lock(m_mutex);
    m_newest = state;
    m_isNew = true;
}

std::optional<TuneState> SearchSeen::take()
{
    const std::scoped_lock lock(m_mutex);
    return std::exchange(m_isNew, false) ? std::optional(m_newest) : std::nullopt;
}

void SearchSeen::setRead(const TuneRequest& request)
{
    const std::scoped_lock lock(m_mutex);
    m_data = request.data;
    m_metric = request.metricText;
}

void SearchSeen::fill(TuneRequest& request)
{
    const std::scoped_lock lock(m_mutex);
    request.data = m_data;
    request.metricText = m_metric;
}

Result<TuneState> SearchWork::run(const JobContext& job)
{
    QS_CHECK(read(job));
    const SeeTune see = [this](const TuneState& state) -> Result<void> {
        seen->put(state);
        keep(state);
        if (!jobs->isEngineWanted())
            return {};
        seen->hasYielded = true;
        return fail(ErrorCode::Cancelled, "cancelled");
    };
    // A training is as long as many trials: it makes room as well, and is resumed.
    std::stop_source stop;
    const std::stop_callback cancels(job.token(), [&stop] { stop.request_stop(); });
    const JobContext searched(stop.get_token(), [&](const Progress& progress) {
        job.report(progress.stage, progress.what, progress.fraction);
        if (progress.stage == "train" && jobs->isEngineWanted()) {
            seen->hasYielded = true;
            stop.request_stop();
        }
    });
    return engine->tune(request, known, see, searched);
}

/// Without the file, a later search measures the trials again.
void SearchWork::keep(const TuneState& state) const
{
    if (state.trials.empty())
        return;
    if (auto kept = writeFileAtomically(statePath, tuneJson(request, state, known)); !kept)
        warn("the trials of the search are not kept: " + kept.error().line());
}

/// Reads what the request needs of files, and the trials of an earlier search.
Result<void> SearchWork::read(const JobContext& job)
{
    if (request.data.empty()) {
        QS_TRY(request.data, dataContent(request, job));
    }
    if (!command.empty()) {
        QS_TRY(request.metricText, metricIdentity(command, job));
        request.metric = commandMetric(command);
    }
    seen->setRead(request);
    if (request.metricText != knownMetric)
        known.clear();
    if (const auto text = readTextFile(statePath); known.empty() && text) {
        if (auto earlier = readSearch(*text, request))
            known = std::move(earlier->trials);
    }
    return {};
}

} // namespace qs
