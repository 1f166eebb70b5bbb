// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observers/counting_observer.h"

#include <vector>

namespace qs {

/// Looks at values on a device that are taken in later, many batches at once: meanwhile the host
/// never waits for the device. One thread at a time.
class LookQueue
{
public:
    /// Where a value stood.
    struct Place
    {
        NodeId node;
        std::int64_t batch = 0;
    };

    /// Queues a look of `observer`, which must live until `settle`, at a value that is not empty.
    void add(CountingObserver& observer, const at::Tensor& x, Place place);
    /// Queues the question whether a tensor (an output of the model) is finite.
    void addCheck(const at::Tensor& x, Place place);
    /// True when enough waits (64 MiB on the device) to be taken in.
    bool isFull() const { return m_bytes >= kMaxBytes; }
    /// Waits for the device and has the observers take in what was queued, in order. Returns the
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
