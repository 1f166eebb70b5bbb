// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/convergence/range_recorder.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr std::chrono::milliseconds kPublishEvery {250};
constexpr int kCostShare = 100; ///< pause after a snapshot, in times of its cost

} // namespace

bool needsSearch(const ObserverSpec& spec)
{
    return spec.kind == ObserverKind::Histogram && spec.range != RangeMethod::MinMax;
}

std::int64_t firstRecordedCount(const ObserverSpec& spec)
{
    return needsSearch(spec) ? kLeastBatches / 2 : 1;
}

RangeRecorder::RangeRecorder(std::vector<RangeHistory> followed, RangeOf rangeOf,
                             std::shared_ptr<CalibrationWatch> watch)
    : m_followed(std::move(followed))
    , m_rangeOf(std::move(rangeOf))
    , m_watch(std::move(watch))
{
}

bool RangeRecorder::isDue(const Amount& amount) const
{
    return isRecordedCount(amount.batches) || amount.isLast()
        || (m_watch && Clock::now() >= m_next);
}

std::optional<RangeAfter> RangeRecorder::rangeNow(const Observer& observer,
                                                  std::int64_t batches) const
{
    if (!observer.soFar().everRan())
        return std::nullopt;
    const auto [low, high] = needsSearch(observer.soFar().spec) ? m_rangeOf(observer.stats())
                                                                : m_rangeOf(observer.soFar());
    if (!std::isfinite(low) || !std::isfinite(high) || low > high)
        return std::nullopt;
    return RangeAfter {batches, low, high};
}

void RangeRecorder::add(const Amount& amount, const PlanPtr& plan, const Observers& observers)
{
    if (isRecordedCount(amount.batches) || amount.isLast()) {
        m_recorded = amount.batches;
        record(amount, observers);
    }
    if (m_watch && (amount.isLast() || Clock::now() >= m_next))
        publish(amount, plan, observers);
}

bool RangeRecorder::isRecorded(const Amount& amount, const Observer& observer)
{
    return amount.isLast()
        || (isRecordedCount(amount.batches)
            && amount.batches >= firstRecordedCount(observer.soFar().spec));
}

void RangeRecorder::addOne(const Amount& amount, Observer& observer) const
{
    const bool isFollowed
        = std::any_of(m_followed.begin(), m_followed.end(),
                      [&](const RangeHistory& one) { return one.id == observer.soFar().id; });
    if (!isFollowed || !isRecorded(amount, observer))
        return;
    if (const auto range = rangeNow(observer, amount.batches))
        observer.record(*range);
}

void RangeRecorder::record(const Amount& amount, const Observers& observers)
{
    std::vector<Observer*> due;
    for (const RangeHistory& one : m_followed) {
        Observer* observer = observers(one.id);
        if (observer && isRecorded(amount, *observer))
            due.push_back(observer);
    }
    std::vector<std::optional<RangeAfter>> ranges(due.size());
    at::parallel_for(0, std::int64_t(due.size()), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
            ranges[std::size_t(i)] = rangeNow(*due[std::size_t(i)], amount.batches);
    });
    for (std::size_t i = 0; i < due.size(); ++i)
        if (ranges[i])
            due[i]->record(*ranges[i]);
}

void RangeRecorder::publish(const Amount& amount, const PlanPtr& plan, const Observers& observers)
{
    const auto start = Clock::now();
    auto made = std::make_shared<CalibrationSnapshot>();
    made->plan = plan;
    made->batches = amount.batches;
    made->allBatches = amount.allBatches;
    made->samples = amount.samples;
    made->isLast = amount.isLast();
    const ObserverId asked = m_watch->asked();
    auto convergence = std::make_shared<Convergence>();
    convergence->batches = m_recorded;
    for (const RangeHistory& followed : m_followed) {
        const Observer* observer = observers(followed.id);
        if (!observer || !observer->soFar().everRan())
            continue;
        RangeHistory one {followed.id, followed.name, observer->soFar().ranges};
        RangeAfter range = one.ranges.empty() ? RangeAfter {} : one.ranges.back();
        const bool isCurrent = !needsSearch(observer->soFar().spec) || one.id == asked;
        if (range.batches != amount.batches && isCurrent)
            range = rangeNow(*observer, amount.batches).value_or(range);
        made->running.push_back(range);
        convergence->observers.push_back(std::move(one));
    }
    made->convergence = std::move(convergence);
    if (const Observer* observer = asked ? observers(asked) : nullptr) {
        ObserverStats stats = observer->stats();
        made->asked = asked;
        made->histogram = std::move(stats.fine.empty() ? stats.exact : stats.fine);
        made->count = stats.count;
    }
    m_watch->put(std::move(made));
    const auto end = Clock::now();
    m_next = end + std::max<Clock::duration>(kPublishEvery, kCostShare * (end - start));
}

} // namespace qs
