// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>

namespace qs {

/// Measures one stage: adds the seconds from its making to `stop()` to a table.
class Stopwatch
{
public:
    Stopwatch(std::map<std::string, double>* table, std::string stage)
        : m_table(table)
        , m_stage(std::move(stage))
        , m_start(std::chrono::steady_clock::now())
    {
    }
    void stop() const
    {
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - m_start;
        if (m_table)
            (*m_table)[m_stage] += taken.count();
    }

private:
    std::map<std::string, double>* m_table;
    std::string m_stage;
    std::chrono::steady_clock::time_point m_start;
};

} // namespace qs
