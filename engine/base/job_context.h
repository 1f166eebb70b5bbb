// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <functional>
#include <stop_token>
#include <string>

namespace qs {

/// Progress of a long job. `fraction`: 0 to 1; `what`: a short phrase such as "batch 3 of 16".
struct Progress
{
    std::string stage;
    std::string what;
    double fraction = 0;
};

/// Passed to every function that may run long. Check `cancelled()` between nodes and batches: a job
/// stops within 200 ms of a cancel. The sink is called on the job's thread.
class JobContext
{
public:
    using Sink = std::function<void(const Progress&)>;

    JobContext() = default;
    explicit JobContext(std::stop_token token, Sink sink = {})
        : m_token(std::move(token))
        , m_sink(std::move(sink))
    {
    }
    const std::stop_token& token() const { return m_token; }
    bool cancelled() const { return m_token.stop_requested(); }
    void report(std::string stage, std::string what, double fraction) const
    {
        if (m_sink)
            m_sink({std::move(stage), std::move(what), fraction});
    }
    /// Fails with Cancelled once a stop was requested.
    Result<void> check() const
    {
        if (cancelled())
            return fail(ErrorCode::Cancelled, "cancelled");
        return {};
    }

private:
    std::stop_token m_token;
    Sink m_sink;
};

} // namespace qs
