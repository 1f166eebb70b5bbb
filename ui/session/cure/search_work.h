// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/pipeline/engine_service.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace qs {

class JobRunner;

/// What a search has reached: written by the engine's thread, read by the GUI's.
class SearchSeen
{
public:
    void put(const TuneState& state);
    /// The newest state that was not taken yet.
    std::optional<TuneState> take();
    /// Sets what is read from files: the request's data and metric.
    void setRead(const TuneRequest& request);
    /// Copies what was read; empty until then.
    void fill(TuneRequest& request);
    std::atomic<bool> hasYielded = false; ///< to other engine work

private:
    std::mutex m_mutex;
    TuneState m_newest;
    Key m_data;
    std::string m_metric;
    bool m_isNew = false;
};

/// A search of cures on the engine's thread. It makes room for other engine work between trials and
/// during a training. A value; borrows the engine and the jobs.
struct SearchWork
{
    EngineService* engine;
    JobRunner* jobs;
    TuneRequest request;
    std::string command; ///< of the user's metric, if it is the goal
    KnownTrials known;
    std::string knownMetric; ///< identity of the metric that `known` was measured with
    std::string statePath; ///< its state is kept there after each trial, and read at the start
    std::shared_ptr<SearchSeen> seen;

    /// Errors: those of `tune`; files that cannot be read; Cancelled, also after it made room.
    Result<TuneState> run(const JobContext& job);

private:
    void keep(const TuneState& state) const;
    Result<void> read(const JobContext& job);
};

} // namespace qs
