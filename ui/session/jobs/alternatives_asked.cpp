// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/jobs/alternatives_asked.h"

#include "ui/session/workspace.h"

namespace qs {

namespace {

const QString kAlternativesTag = QStringLiteral("alternatives");

} // namespace

AlternativesAsked::AlternativesAsked(Workspace& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
{
}

const std::vector<Alternative>* AlternativesAsked::ask(ObserverId id)
{
    static const std::vector<Alternative> kNone;
    const CalibrationPtr& calibration = m_workspace.document().calibration();
    if (calibration != m_calibration) {
        m_workspace.pipeline().jobs().cancel(kAlternativesTag);
        m_calibration = calibration;
        m_known.clear();
        m_running = {};
    }
    const ObserverStats* stats = m_workspace.facts().stats(id);
    if (!calibration || !calibration->prepared || !stats)
        return &kNone;
    if (const auto it = m_known.find(stats->id); it != m_known.end())
        return &it->second;
    if (m_running != stats->id)
        workOut(stats->id);
    return nullptr;
}

void AlternativesAsked::workOut(ObserverId seen)
{
    m_running = seen;
    auto& engine = m_workspace.pipeline().engine();
    m_workspace.pipeline().jobs().run(
        Lane::Pool, kAlternativesTag,
        [&engine, calibration = m_calibration, seen](JobContext& job) {
            auto found = engine.alternatives(calibration, seen, job);
            return found ? std::move(*found) : std::vector<Alternative>();
        },
        this,
        [this, calibration = m_calibration, seen](std::vector<Alternative> found) {
            if (calibration != m_calibration)
                return;
            m_running = {};
            m_known[seen] = std::move(found);
            Q_EMIT arrived();
        });
}

} // namespace qs
