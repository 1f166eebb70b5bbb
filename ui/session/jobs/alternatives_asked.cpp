// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/jobs/alternatives_asked.h"

#include "ui/session/workspace.h"

#include <QTimer>

#include <algorithm>

namespace qs {

namespace {

const QString kAlternativesTag = QStringLiteral("alternatives");

} // namespace

AlternativesAsked::AlternativesAsked(Workspace& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_start(new QTimer(this))
{
    m_start->setSingleShot(true);
    connect(m_start, &QTimer::timeout, this, &AlternativesAsked::workOut);
}

const std::vector<Alternative>* AlternativesAsked::ask(ObserverId id)
{
    static const std::vector<Alternative> kNone;
    const CalibrationPtr& calibration = m_workspace.document().calibration();
    if (calibration != m_calibration) {
        m_workspace.pipeline().jobs().cancel(kAlternativesTag);
        m_calibration = calibration;
        m_known.clear();
        m_wanted.clear();
        m_running.clear();
    }
    const ObserverStats* stats = m_workspace.facts().stats(id);
    if (!calibration || !calibration->prepared || !stats)
        return &kNone;
    if (const auto it = m_known.find(stats->id); it != m_known.end())
        return &it->second;
    const auto isAmong = [&](const std::vector<ObserverId>& ids) {
        return std::find(ids.begin(), ids.end(), stats->id) != ids.end();
    };
    if (!isAmong(m_running) && !isAmong(m_wanted)) {
        m_wanted.push_back(stats->id);
        m_start->start(0);
    }
    return nullptr;
}

void AlternativesAsked::workOut()
{
    using Found = std::map<ObserverId, std::vector<Alternative>>;
    if (m_wanted.empty())
        return;
    m_running = std::exchange(m_wanted, {});
    auto& engine = m_workspace.pipeline().engine();
    m_workspace.pipeline().jobs().run(
        Lane::Pool, kAlternativesTag,
        [&engine, calibration = m_calibration, asked = m_running](JobContext& job) {
            Found found;
            for (const ObserverId seen : asked) {
                auto ways = engine.alternatives(calibration, seen, job);
                found[seen] = ways ? std::move(*ways) : std::vector<Alternative>();
            }
            return found;
        },
        this,
        [this, calibration = m_calibration](Found found) {
            if (calibration != m_calibration)
                return;
            m_running.clear();
            m_known.merge(found);
            Q_EMIT arrived();
        });
}

} // namespace qs
