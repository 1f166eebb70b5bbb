// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observers/counting_observer.h"

#include <vector>

namespace qs {

/// Queues observations on a device and collects their results later, many batches at once:
/// meanwhile the host never waits for the device. One thread at a time.
class DeviceObservationQueue
{
public:
    /// Where a value stood.
    struct Place
    {
        NodeId node;
        std::int64_t batch = 0;
    };

    /// Queues an observation of a value, not empty, by `observer`, which must outlive `settle`.
    void add(CountingObserver& observer, const at::Tensor& x, Place place);
    /// Queues a check that a tensor (an output of the model) is finite.
    void addCheck(const at::Tensor& x, Place place);
    /// True if enough results wait (64 MiB on the device) to be collected.
    bool isFull() const { return m_bytes >= kMaxBytes; }
    /// Waits for the device and passes the queued results to the observers, in order. Returns the
    /// places with NaN or Inf of the first batch that has one, after which it stops.
    std::vector<Place> settle();

private:
    static constexpr std::size_t kMaxBytes = std::size_t(64) << 20;
    struct Entry
    {
        CountingObserver* observer = nullptr; ///< none: a check
        at::Tensor words; ///< int64, on the device
        std::int64_t values = 0;
        Place place;
    };
    void push(Entry entry);

    std::vector<Entry> m_entries;
    std::size_t m_bytes = 0;
};

} // namespace qs
