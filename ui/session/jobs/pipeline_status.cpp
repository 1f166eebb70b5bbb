// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/text.h"
#include "engine/graph/bodies.h"
#include "engine/plan/summaries/coverage.h"
#include "ui/session/decisions/backend_decisions.h"
#include "ui/session/jobs/pipeline.h"
#include "ui/session/text.h"

#include <QDir>
#include <QEventLoop>

#include <algorithm>

namespace qs {

namespace {

const QString kKeepTag = QStringLiteral("keep");

QString secondsText(double seconds)
{
    if (seconds < 90)
        return QStringLiteral("%1 s").arg(seconds, 0, 'f', seconds < 10 ? 1 : 0);
    return QObject::tr("%1 min").arg(seconds / 60, 0, 'f', 1);
}

} // namespace

QLatin1String stageName(Stage stage)
{
    static const char* const names[kStageCount]
        = {QT_TRANSLATE_NOOP("QObject", "Open"),    QT_TRANSLATE_NOOP("QObject", "Backend"),
           QT_TRANSLATE_NOOP("QObject", "Plan"),    QT_TRANSLATE_NOOP("QObject", "Calibrate"),
           QT_TRANSLATE_NOOP("QObject", "Convert"), QT_TRANSLATE_NOOP("QObject", "Compare"),
           QT_TRANSLATE_NOOP("QObject", "Export")};
    return QLatin1String(names[int(stage)]);
}

QString stageText(Stage stage)
{
    return QObject::tr(stageName(stage).data());
}

QString Pipeline::runningText() const
{
    if (m_fraction <= 0)
        return tr("running");
    // The engine is done; the window still builds its views.
    if (m_fraction >= 1)
        return tr("finishing");
    const QString done = QStringLiteral("%1 %").arg(int(m_fraction * 100));
    return m_left.isEmpty() ? tr("running %1").arg(done)
                            : QStringLiteral("%1 · %2").arg(done, m_left);
}

QString Pipeline::doneText(Stage stage) const
{
    const auto& doc = m_document;
    switch (stage) {
    case Stage::Open:
        return toQString(counted(std::int64_t(operatorCount(*doc.model())), "operator"));
    case Stage::Backend:
        return backendTitle(doc.recipe());
    case Stage::Plan:
        return toQString(coverageOf(*doc.plan()).shortText());
    case Stage::Calibrate:
        return QStringLiteral("%1×%2 · %3 · %4")
            .arg(doc.calibration()->observations->batches)
            .arg(doc.recipe().calibration.batchSize)
            .arg(QString::fromStdString(doc.calibration()->device).toUpper(),
                 secondsText(doc.calibration()->seconds));
    case Stage::Convert: {
        const auto& checks = doc.converted()->checks;
        const auto failed = std::count_if(checks.begin(), checks.end(),
                                          [](const KernelCheck& check) { return !check.passed; });
        return failed ? tr("%1 of %2 kernels refused").arg(failed).arg(checks.size())
                      : tr("reference + lowered");
    }
    case Stage::Compare:
        return toQString(counted(doc.comparison()->samples, "sample"));
    case Stage::Export:
        return tr("%1 in %2")
            .arg(toQString(counted(doc.exported().files.size(), "file")))
            .arg(QDir(QString::fromStdString(doc.exported().folder)).dirName());
    }
    return {};
}

StageStatus Pipeline::status(Stage stage) const
{
    using State = StageStatus::State;
    if (m_running == int(stage))
        return {State::Running, runningText(), m_fraction};
    // After a file failed to open, the previous model stays open.
    const bool isOpen = stage == Stage::Open && m_document.model();
    if (const auto& failed = m_failed[std::size_t(stage)];
        failed && !isOpen && m_document.isSame(stage, *failed))
        return {State::Failed, tr("failed"), 0};
    // Planning uses the default backend, but the user did not choose it.
    if (stage == Stage::Backend && m_document.model() && !m_document.recipe().namesTarget())
        return {State::Waiting, tr("%1, not chosen").arg(backendTitle(m_document.recipe())), 0};
    if (m_document.hasResult(stage)) {
        if (m_document.isStale(stage))
            return {State::Stale, tr("stale · %1").arg(m_document.staleReason(stage)), 0};
        return {State::Done, doneText(stage), 0};
    }
    static const char* const waiting[kStageCount] = {QT_TR_NOOP("choose a model"),
                                                     QT_TR_NOOP("choose a target"),
                                                     QT_TR_NOOP("who and why"),
                                                     QT_TR_NOOP("data and device"),
                                                     QT_TR_NOOP("reference + lowered"),
                                                     QT_TR_NOOP("what every layer lost"),
                                                     QT_TR_NOOP(".pt2, ONNX, TorchScript")};
    return {State::Waiting, tr(waiting[int(stage)]), 0};
}

void Pipeline::exportTo(const ExportChoices& choices)
{
    m_export = choices;
    runUpTo(Stage::Export);
}

ExportRequest Pipeline::exportRequest() const
{
    ExportRequest request;
    request.calibration = m_document.calibration();
    request.converted = m_document.converted();
    if (isCurrent(Stage::Compare))
        request.comparison = m_document.comparison();
    if (!m_document.isDiagnosisStale())
        request.diagnosis = m_document.diagnosis();
    request.evaluation = m_document.evaluationOf(m_document.keys());
    request.search = m_document.searchSummary();
    request.recipe = m_document.recipe();
    request.settings = m_document.settings();
    request.onnxTarget = m_export.onnxTarget;
    request.saturates = m_export.saturates;
    for (int s = 0; s < int(Stage::Export); ++s)
        if (m_seconds[std::size_t(s)] > 0)
            request.timingSeconds[QString(stageName(Stage(s))).toLower().toStdString()]
                = m_seconds[std::size_t(s)];
    return request;
}

bool Pipeline::keepResults(const QString& folder)
{
    if (!isCurrent(Stage::Calibrate) || !isCurrent(Stage::Convert))
        return false;
    ExportRequest request = exportRequest();
    request.folder = folder.toStdString();
    m_jobs.run(
        Lane::Engine, kKeepTag,
        [engine = &m_engine, request](JobContext& job) { return engine->exportTo(request, job); },
        this,
        [this](Result<ExportReport> kept) {
            if (!kept)
                Q_EMIT failed(Stage::Export, kept.error());
        });
    return true;
}

void Pipeline::waitForKept()
{
    QEventLoop loop;
    connect(&m_jobs, &JobRunner::finished, &loop, [this, &loop] {
        if (!m_jobs.isRunning(kKeepTag))
            loop.quit();
    });
    if (m_jobs.isRunning(kKeepTag))
        loop.exec();
}

} // namespace qs
