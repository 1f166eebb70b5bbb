// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/data/dataset.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace qs {

/// Returns batches of a dataset once, in order. While the caller processes a batch, a thread of
/// the reader reads the next, so at most two batches exist. A dataset of one batch is read on the
/// caller's thread. Thread: one. The dataset must outlive the reader. Destruction waits for the
/// batch being read.
class BatchReader
{
public:
    /// Reads the batches `first`, `first` + `stride` ... `isPinned`: a device reads them, so their
    /// tensors lie in pinned memory, which the reading thread fills while the device works.
    explicit BatchReader(const Dataset& data, JobContext job = {}, std::int64_t first = 0,
                         std::int64_t stride = 1, bool isPinned = false);
    ~BatchReader();
    BatchReader(const BatchReader&) = delete;
    BatchReader& operator=(const BatchReader&) = delete;

    /// Number of batches of the dataset.
    std::int64_t count() const { return m_count; }
    /// Returns the next batch; must not be called after the last. If a batch cannot be read, fails
    /// after returning all earlier batches; reading stops there. Fails with Cancelled as soon as
    /// the job is cancelled.
    Result<Batch> next();

private:
    Result<Batch> readHere(std::int64_t index) const;
    void readAhead(std::int64_t first, const std::stop_token& stop);

    const Dataset& m_data;
    JobContext m_job;
    std::int64_t m_count, m_stride;
    bool m_isPinned;
    std::int64_t m_next; ///< the next batch to return

    std::mutex m_mutex;
    std::condition_variable_any m_changed;
    std::optional<Result<Batch>> m_ready; ///< read, not yet taken
    std::jthread m_thread; ///< declared last: it uses the other members
};

} // namespace qs
