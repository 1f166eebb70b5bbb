// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observers/counting_observer.h"

#include <vector>

namespace qs {

/// Queues observations on a device and collects their results later, for many batches at once, so
/// that the host does not wait for the device. One thread at a time.
class DeviceObservationQueue
{
public:
    /// Origin of a value.
    struct Place
    {
        NodeId node;
        std::int64_t batch = 0;
    };

    /// Queues an observation of a non-empty value by `observer`, which must outlive `settle`.
    void add(CountingObserver& observer, const at::Tensor& x, Place place);
    /// Queues a check that a tensor (an output of the model) is finite.
    void addCheck(const at::Tensor& x, Place place);
    /// True if the queued results (64 MiB on the device) should be collected.
    bool isFull() const { return m_bytes >= kMaxBytes; }
    /// Waits for the device and passes the queued results to the observers, in order. Stops after
    /// the first batch with NaN or Inf and returns its places.
    std::vector<Place> settle();

private:
    static constexpr std::size_t kMaxBytes = std::size_t(64) << 20;
    struct Entry
    {
        CountingObserver* observer = nullptr; ///< null: a check
        at::Tensor words; ///< int64, on the device
        std::int64_t values = 0;
        Place place;
    };
    void push(Entry entry);

    std::vector<Entry> m_entries;
    std::size_t m_bytes = 0;
};

} // namespace qs
