// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace qs {

/// Hands out the batches of a dataset in order, each once. While the caller works on one, a thread
/// of the reader reads the next: two batches are alive at most, the caller's and the one read
/// ahead. Data of one batch are read on the caller's thread. Used by one thread; the dataset must
/// outlive the reader. Destruction waits for the batch being read.
class BatchReader
{
public:
    /// Begins with batch `first`.
    explicit BatchReader(const Dataset& data, JobContext job = {}, std::int64_t first = 0);
    ~BatchReader();
    BatchReader(const BatchReader&) = delete;
    BatchReader& operator=(const BatchReader&) = delete;

    /// Batches of the dataset.
    std::int64_t count() const { return m_count; }
    /// The next batch, up to the last one. A batch that cannot be read is an error in its
    /// turn, after the batches before it; reading stops there. Cancelled as soon as the job
    /// is.
    Result<Batch> next();

private:
    Result<Batch> readHere(std::int64_t index) const;
    void readAhead(std::int64_t first, const std::stop_token& stop);

    const Dataset& m_data;
    JobContext m_job;
    std::int64_t m_count;
    std::int64_t m_next; ///< the batch to hand out

    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::optional<Result<Batch>> m_ready; ///< read, not yet taken
    std::jthread m_thread; ///< last: it uses the others
};

} // namespace qs
