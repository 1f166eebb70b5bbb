// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <ctime>
#include <map>
#include <string>
#include <vector>

namespace qs {

/// The time of a stage of a run.
struct StageTime
{
    double seconds = 0; ///< elapsed time
    double processorSeconds = 0; ///< processor time of all threads of this process
};

/// The times of the stages of a run, in the order in which the stages first ended.
class StageTimes
{
public:
    struct Entry
    {
        std::string stage;
        StageTime time;
    };

    /// Adds the time of a stage; accumulates if the stage ran before.
    void add(const std::string& stage, const StageTime& time)
    {
        for (Entry& entry : m_entries)
            if (entry.stage == stage) {
                entry.time.seconds += time.seconds;
                entry.time.processorSeconds += time.processorSeconds;
                return;
            }
        m_entries.push_back({stage, time});
    }
    const std::vector<Entry>& entries() const { return m_entries; }
    /// Elapsed seconds by stage.
    std::map<std::string, double> seconds() const
    {
        std::map<std::string, double> seconds;
        for (const Entry& entry : m_entries)
            seconds[entry.stage] = entry.time.seconds;
        return seconds;
    }

private:
    std::vector<Entry> m_entries;
};

/// Measures one stage: `stop` adds the time since the stopwatch was made to a table, if there is
/// one.
class Stopwatch
{
public:
    Stopwatch(StageTimes* table, std::string stage)
        : m_table(table)
        , m_stage(std::move(stage))
    {
    }
    StageTime taken() const
    {
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - m_start;
        return {taken.count(), processorSeconds() - m_startProcessor};
    }
    void stop() const
    {
        if (m_table)
            m_table->add(m_stage, taken());
    }

private:
    static double processorSeconds()
    {
        timespec used {};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
        return double(used.tv_sec) + 1e-9 * double(used.tv_nsec);
    }

    StageTimes* m_table;
    std::string m_stage;
    std::chrono::steady_clock::time_point m_start = std::chrono::steady_clock::now();
    double m_startProcessor = processorSeconds();
};

} // namespace qs
