// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observers/observer_factory.h"

#include "engine/calibrate/observers/histogram_observer.h"
#include "engine/calibrate/observers/min_max_observer.h"
#include "engine/calibrate/observers/per_channel_observer.h"

namespace qs {

namespace {

// An observer without a range (placeholder, reuse_input ...): only counts values.
class SilentObserver : public Observer
{
public:
    using Observer::Observer;

protected:
    kernels::MinMax see(const at::Tensor&, Observed&) override { return {}; }
};

} // namespace

std::unique_ptr<Observer> makeObserver(ObserverId id, const ObserverSpec& spec)
{
    switch (spec.kind) {
    case ObserverKind::MinMax:
    case ObserverKind::FixedQParams: // its parameters are fixed; the range is for display
        return std::make_unique<MinMaxObserver>(id, spec);
    case ObserverKind::MovingAverageMinMax:
        return std::make_unique<MovingAverageObserver>(id, spec);
    case ObserverKind::PerChannelMinMax:
    case ObserverKind::MovingAveragePerChannelMinMax:
        return std::make_unique<PerChannelObserver>(id, spec);
    case ObserverKind::Histogram:
        return std::make_unique<HistogramObserver>(id, spec);
    case ObserverKind::Placeholder:
    case ObserverKind::ReuseInput:
    case ObserverKind::Noop:
    case ObserverKind::Recording:
    case ObserverKind::Identity:
        break;
    }
    return std::make_unique<SilentObserver>(id, spec);
}

} // namespace qs
