// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/jobs/cause_finder.h"

#include "ui/session/jobs/conversion_wait.h"
#include "ui/session/workspace.h"

#include <utility>

namespace qs {

namespace {

const QString kBlameTag = QStringLiteral("blame");

} // namespace

CauseFinder::CauseFinder(Workspace& workspace)
    : QObject(&workspace)
    , m_workspace(workspace)
    , m_wait(new ConversionWait(workspace, kBlameTag, this))
{
    connect(m_wait, &ConversionWait::ready, this, &CauseFinder::start);
    connect(&workspace.pipeline().jobs(), &JobRunner::progressed, this,
            [this](const QString& tag, const Progress& progress) {
                if (tag != kBlameTag)
                    return;
                const bool isSeen = int(100 * progress.fraction) != int(100 * m_fraction);
                m_fraction = progress.fraction;
                if (isSeen)
                    Q_EMIT changed();
            });
}

bool CauseFinder::isRunning() const
{
    return m_wait->isJobRunning();
}

void CauseFinder::find()
{
    Document& document = m_workspace.document();
    if (!document.model() || isRunning())
        return;
    document.refreshKeys();
    if (!document.calibration()) {
        Q_EMIT refused(tr("Not calibrated yet: causes are searched in the calibrated ranges"));
        return;
    }
    m_wait->start();
}

void CauseFinder::start()
{
    const Document& document = m_workspace.document();
    m_fraction = 0;
    Pipeline& pipeline = m_workspace.pipeline();
    pipeline.jobs().run(
        Lane::Engine, kBlameTag,
        [engine = &pipeline.engine(), request = pipeline.compareRequest()](JobContext& job) {
            return engine->why(request, {}, job);
        },
        this,
        [this, model = document.model(), keys = document.keys()](Result<DiagnosisPtr> made) {
            if (made && model == m_workspace.document().model()) {
                m_workspace.document().setDiagnosis(std::move(*made), keys);
                Q_EMIT found();
            } else if (!made && made.error().code != ErrorCode::Cancelled) {
                Q_EMIT failed(made.error());
            }
            Q_EMIT changed();
        });
    Q_EMIT changed();
}

} // namespace qs
