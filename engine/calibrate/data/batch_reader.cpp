// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/batch_reader.h"

#include "engine/base/torch_guard.h"

#include <chrono>

namespace qs {

namespace {

/// Interval at which a wait for a slow batch checks for cancellation.
constexpr std::chrono::milliseconds kCancelCheck(20);

} // namespace

BatchReader::BatchReader(const Dataset& data, JobContext job, std::int64_t first,
                         std::int64_t stride, bool isPinned)
    : m_data(data)
    , m_job(std::move(job))
    , m_count(data.batchCount())
    , m_stride(stride)
    , m_isPinned(isPinned)
    , m_next(first)
{
    if (m_count - first > stride)
        m_thread = std::jthread([this, first](const std::stop_token& stop) {
            const InferenceScope inference;
            readAhead(first, stop);
        });
}

BatchReader::~BatchReader() = default; // jthread requests a stop, then joins

Result<Batch> BatchReader::next()
{
    if (m_next >= m_count)
        return fail(ErrorCode::Internal, "a batch after the last was requested");
    QS_CHECK(m_job.check());
    if (!m_thread.joinable()) {
        auto batch = readHere(m_next);
        m_next += m_stride;
        return batch;
    }
    std::unique_lock lock(m_mutex);
    while (!m_changed.wait_for(lock, kCancelCheck, [this] { return m_ready.has_value(); }))
        QS_CHECK(m_job.check());
    Result<Batch> batch = std::move(*m_ready);
    m_ready.reset();
    m_next = batch ? m_next + m_stride : m_count;
    lock.unlock();
    m_changed.notify_all();
    return batch;
}

Result<Batch> BatchReader::readHere(std::int64_t index) const
{
    return guardTorchValue<Batch>([&]() -> Result<Batch> {
        QS_TRY(Batch batch, m_data.batch(index));
        for (at::IValue& input : batch.inputs)
            if (m_isPinned && input.isTensor())
                input = input.toTensor().pin_memory();
        return batch;
    });
}

void BatchReader::readAhead(std::int64_t first, const std::stop_token& stop)
{
    for (std::int64_t index = first; index < m_count && !stop.stop_requested(); index += m_stride) {
        Result<Batch> batch = readHere(index);
        const bool last = !batch;
        std::unique_lock lock(m_mutex);
        m_ready = std::move(batch);
        m_changed.notify_all();
        // The following batch is not read before this one is taken.
        m_changed.wait(lock, stop, [this] { return !m_ready.has_value(); });
        if (last)
            return;
    }
}

} // namespace qs
