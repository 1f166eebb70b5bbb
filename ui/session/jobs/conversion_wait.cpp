// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/jobs/conversion_wait.h"

#include "ui/session/workspace.h"

#include <utility>

namespace qs {

ConversionWait::ConversionWait(Workspace& workspace, const QString& job, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_job(job)
{
    const Document* document = &workspace.document();
    for (const auto changed :
         {&Document::modelChanged, &Document::graphEdited, &Document::settingsChanged})
        connect(document, changed, this, &ConversionWait::stop);
    connect(document, &Document::recipeChanged, this, &ConversionWait::cancelJob);
    const Pipeline* pipeline = &workspace.pipeline();
    connect(pipeline, &Pipeline::succeeded, this, &ConversionWait::goOn);
    connect(pipeline, &Pipeline::failed, this, &ConversionWait::end);
    connect(pipeline, &Pipeline::cancelled, this, &ConversionWait::stop);
}

bool ConversionWait::isJobRunning() const
{
    return m_workspace.pipeline().jobs().isRunning(m_job);
}

void ConversionWait::cancelJob()
{
    m_workspace.pipeline().jobs().cancel(m_job);
}

void ConversionWait::stop()
{
    m_isWaiting = false;
    cancelJob();
    Q_EMIT ended();
}

bool ConversionWait::isReady() const
{
    const Document& document = m_workspace.document();
    return document.calibration() && document.converted() && !document.isStale(Stage::Calibrate)
        && !document.isStale(Stage::Convert);
}

void ConversionWait::start()
{
    if (isReady())
        return Q_EMIT ready();
    m_isWaiting = true;
    m_workspace.pipeline().runUpTo(Stage::Convert);
}

void ConversionWait::goOn(Stage stage)
{
    if (!m_isWaiting || !(isReady() || stage == Stage::Convert))
        return;
    if (!isReady())
        return end();
    m_isWaiting = false;
    Q_EMIT ready();
}

void ConversionWait::end()
{
    if (std::exchange(m_isWaiting, false))
        Q_EMIT ended();
}

} // namespace qs
