// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/jobs/live_calibration.h"

#include "engine/base/text.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <utility>

namespace qs {

LiveCalibration::LiveCalibration(Workspace& workspace)
    : QObject(&workspace)
    , m_workspace(workspace)
{
    connect(&workspace.pipeline(), &Pipeline::statusChanged, this, &LiveCalibration::update);
    connect(&workspace, &Workspace::factsChanged, this, &LiveCalibration::update);
}

void LiveCalibration::ask(ObserverId id)
{
    m_asked = id;
    if (m_watch)
        m_watch->ask(id);
}

void LiveCalibration::update()
{
    auto watch = m_workspace.pipeline().watch();
    SnapshotPtr newest = watch ? watch->newest() : nullptr;
    const CalibrationPtr& calibration = m_workspace.document().calibration();
    if (watch == m_watch && newest == m_snapshot && calibration == m_calibration)
        return;
    if (watch && watch != m_watch)
        watch->ask(m_asked);
    m_watch = std::move(watch);
    m_snapshot = std::move(newest);
    m_calibration = calibration;
    m_convergence = nullptr;
    if (m_snapshot) {
        m_convergence = m_snapshot->convergence;
    } else if (calibration && !m_watch) {
        const PreparedModel& prepared = *calibration->prepared;
        auto made = convergenceOf(*calibration->observations, *prepared.model, *prepared.plan);
        if (!made.observers.empty())
            m_convergence = std::make_shared<const Convergence>(std::move(made));
    }
    Q_EMIT changed();
}

std::vector<RangeAfter> LiveCalibration::ranges(ObserverId id) const
{
    if (!m_watch) {
        const ObserverStats* stats = m_workspace.facts().stats(id);
        return stats ? stats->ranges : std::vector<RangeAfter>();
    }
    if (!m_snapshot || m_snapshot->plan != m_workspace.document().plan())
        return {};
    const auto& observers = m_snapshot->convergence->observers;
    for (std::size_t i = 0; i < observers.size(); ++i) {
        if (observers[i].id != id)
            continue;
        std::vector<RangeAfter> ranges = observers[i].ranges;
        const RangeAfter& now = m_snapshot->running[i];
        if (now.batches > 0 && (ranges.empty() || ranges.back().batches < now.batches))
            ranges.push_back(now);
        return ranges;
    }
    return {};
}

std::optional<ConvergenceHint> LiveCalibration::hint() const
{
    return m_convergence ? convergenceHint(*m_convergence) : std::nullopt;
}

std::int64_t LiveCalibration::enoughBatches() const
{
    const auto found = hint();
    return found && found->isSettled ? found->since : 0;
}

void LiveCalibration::limitToEnough()
{
    const std::int64_t enough = enoughBatches();
    if (enough == 0)
        return;
    Recipe recipe = m_workspace.document().recipe();
    recipe.calibration.batches = int(enough);
    m_workspace.change(tr("calibrate on %1").arg(toQString(counted(enough, "batch"))),
                       std::move(recipe));
}

} // namespace qs
