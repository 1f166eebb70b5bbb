// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/device_observation_queue.h"

#include <ATen/ATen.h>

namespace qs {

void DeviceObservationQueue::push(Entry entry)
{
    m_bytes += entry.words.nbytes();
    m_entries.push_back(std::move(entry));
}

void DeviceObservationQueue::add(CountingObserver& observer, const at::Tensor& x, Place place)
{
    push({&observer, observer.queue(x), x.numel(), place});
}

void DeviceObservationQueue::addCheck(const at::Tensor& x, Place place)
{
    push({nullptr, at::isfinite(x).all().logical_not().to(at::kLong).view({1}), 0, place});
}

std::vector<DeviceObservationQueue::Place> DeviceObservationQueue::settle()
{
    const std::vector<Entry> entries = std::exchange(m_entries, {});
    m_bytes = 0;
    std::vector<Place> found;
    if (entries.empty())
        return found;
    std::vector<at::Tensor> queued;
    for (const Entry& entry : entries)
        queued.push_back(entry.words);
    const at::Tensor host = at::cat(queued).cpu(); // the only wait for the device
    std::int64_t at = 0;
    for (const Entry& entry : entries) {
        if (!found.empty() && found.front().batch != entry.place.batch)
            break;
        const at::Tensor words = host.slice(0, at, at + entry.words.numel());
        at += entry.words.numel();
        const std::int64_t bad = entry.observer
            ? entry.observer->settle(entry.values, observationFrom(words))
            : words.item<std::int64_t>();
        if (bad != 0)
            found.push_back(entry.place);
    }
    return found;
}

} // namespace qs
