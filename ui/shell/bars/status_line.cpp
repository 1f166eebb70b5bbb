// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/bars/status_line.h"

#include "engine/base/memory/memory_budget.h"
#include "engine/pipeline/memory_prediction.h"
#include "engine/plan/summaries/coverage.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"

#include <QEvent>
#include <QFileInfo>
#include <QStatusBar>

namespace qs {

StatusLine::StatusLine(Workspace& workspace, QStatusBar& bar)
    : QObject(&bar)
    , m_workspace(workspace)
    , m_summary(new ElidedLabel(QString(), uiFont(11.5), &bar))
    , m_warnings(new ElidedLabel(QString(), uiFont(11.5), &bar))
    , m_provenance(new ElidedLabel(QString(), uiFont(11.5), &bar))
{
    m_summary->setObjectName(QStringLiteral("statusSummary"));
    m_warnings->setObjectName(QStringLiteral("statusWarnings"));
    m_warnings->setStyleSheet(inkStyle(theme().warning));
    m_warnings->setCursor(Qt::PointingHandCursor);
    m_warnings->installEventFilter(this);
    m_provenance->setObjectName(QStringLiteral("statusProvenance"));
    m_provenance->setStyleSheet(
        QStringLiteral("color: %1; padding-right: 8px;").arg(theme().muted.name()));
    m_summary->setStyleSheet(QStringLiteral("padding-left: 10px;"));
    bar.setSizeGripEnabled(false);
    bar.addWidget(m_summary, 1);
    for (auto* label : {m_warnings, m_provenance}) {
        label->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
        bar.addPermanentWidget(label);
    }
    connect(&workspace, &Workspace::factsChanged, this, &StatusLine::refresh);
    connect(&workspace.document(), &Document::recipeChanged, this, &StatusLine::refresh);
    connect(&workspace.pipeline(), &Pipeline::statusChanged, this, [this] {
        if (m_opening != m_workspace.pipeline().opening())
            refresh();
    });
    refresh();
}

bool StatusLine::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_warnings || event->type() != QEvent::MouseButtonRelease)
        return QObject::eventFilter(watched, event);
    Q_EMIT warningsClicked();
    return true;
}

QString StatusLine::memoryText()
{
    const auto& document = m_workspace.document();
    const int batch = document.recipe().calibration.batchSize;
    if (document.plan() != m_predictedPlan || batch != m_predictedBatch) {
        m_predictedPlan = document.plan();
        m_predictedBatch = batch;
        const auto memory = predictMemory(*document.model(), *m_predictedPlan, batch);
        m_memory
            = tr("a run takes about %1").arg(toQString(::qs::memoryText(memory.peak().bytes())));
    }
    return m_memory;
}

void StatusLine::refresh()
{
    const auto& document = m_workspace.document();
    m_opening = m_workspace.pipeline().opening();
    QStringList parts;
    if (const auto& plan = document.plan())
        parts << toQString(coverageOf(*plan).text()) << memoryText();
    if (const auto& comparison = document.comparison(); comparison && document.plan()) {
        const auto db = comparison->outputDb();
        if (db)
            parts << tr("output %1").arg(shownSqnr(*db));
        if (comparison->floatTop1 && comparison->int8Top1)
            parts << tr("top-1 %1 % → %2 %")
                         .arg(*comparison->floatTop1 * 100, 0, 'f', 1)
                         .arg(*comparison->int8Top1 * 100, 0, 'f', 1);
        else if (comparison->agreement)
            parts << tr("same top-1 for %1 %").arg(comparison->agreement->top1 * 100, 0, 'f', 1);
    }
    // The views show a stored run, but these figures belong to the current result.
    if (m_workspace.shownRun() && !parts.isEmpty())
        parts.front() = tr("current result: %1").arg(parts.front());
    // Another file may be opening while a model is open.
    if (!m_opening.isEmpty())
        parts = {tr("Opening %1 …").arg(QFileInfo(m_opening).fileName())};
    else if (!document.model())
        parts = {tr("No model open")};
    m_summary->setText(parts.join(QStringLiteral(" · ")));
    const int warnings = document.plan() ? int(document.plan()->warnings.size()) : 0;
    m_warnings->setVisible(warnings > 0);
    if (warnings > 0) {
        const QString first = QString::fromStdString(document.plan()->warnings.front());
        m_warnings->setText(warnings == 1 ? QStringLiteral("⚠ ") + first
                                          : tr("⚠ %1 warnings of the plan").arg(warnings));
        QStringList all;
        for (const auto& warning : document.plan()->warnings)
            all << QString::fromStdString(warning);
        m_warnings->setToolTip(all.mid(0, 12).join(QLatin1Char('\n')));
    }
    QString provenance;
    if (document.calibration())
        provenance = QString::fromStdString(document.calibration()->device).toUpper()
            + QStringLiteral(" · ");
    if (document.model()) {
        const Stage last = document.hasResult(Stage::Compare) ? Stage::Compare : Stage::Calibrate;
        if (!document.hasResult(last))
            provenance += tr("no results yet");
        else if (document.isStale(last))
            provenance += tr("results are stale: %1").arg(document.staleReason(last));
        else
            provenance += tr("results are of these decisions (current)");
    }
    m_provenance->setText(provenance);
}

} // namespace qs
