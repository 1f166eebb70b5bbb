// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/cards/cause_cell.h"

#include "engine/result/part_text.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QToolButton>

namespace qs {

CauseCell::CauseCell(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_caption(makeMutedLabel(QString(), 11.5, this))
    , m_button(new QToolButton(this))
{
    m_button->setObjectName(QStringLiteral("resultCause"));
    m_button->setFont(uiFont(12, 600));
    m_button->setAutoRaise(true);
    m_button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    addItems(*makeHBox(this, {}, 2), {m_caption, m_button});
    connect(m_button, &QToolButton::clicked, this, [this] {
        const auto& model = m_workspace.document().model();
        if (!m_node || !model || !model->tryGet(m_node))
            return;
        m_workspace.selectNode(m_node);
        Q_EMIT revealWanted();
    });
    refresh();
}

void CauseCell::say(const QString& caption, const QString& text, const QString& tip)
{
    m_words = text.isEmpty() ? QString() : caption + QLatin1Char(' ') + text;
    m_caption->setText(caption);
    m_button->setText(QFontMetrics(m_button->font()).elidedText(text, Qt::ElideRight, px(330)));
    m_button->setAccessibleName(m_words);
    setToolTip(tip);
    m_button->setToolTip(tip);
}

void CauseCell::refresh()
{
    const Facts& facts = m_workspace.facts();
    const CauseFinder& finder = m_workspace.causes();
    m_node = {};
    if (finder.isRunning()) {
        say(tr("Causes"), tr("looking, %1 %").arg(int(100 * finder.fraction())),
            tr("Ctrl+. stops it"));
        return;
    }
    const DiagnosisPtr& diagnosis = facts.diagnosis();
    if (!diagnosis) {
        say({}, {}, {});
        return;
    }
    const QString mark = facts.diagnosisStale() ? QStringLiteral("⚠ ") : QString();
    const QString old = facts.diagnosisStale()
        ? tr("Out of date, %1: find causes again. ")
              .arg(m_workspace.document().diagnosisStaleReason())
        : QString();
    if (diagnosis->causes.empty()) {
        const QString text
            = tr("Nothing to cure: %1").arg(shownSqnr(shareDb(diagnosis->blame->measured)));
        say(mark + tr("Causes"), text,
            old
                + tr("No quantizer makes %1 of the noise of the outputs or more")
                      .arg(toQString(partText(kLeastPart))));
        return;
    }
    const Cause& first = diagnosis->causes.front();
    m_node = diagnosis->nodeOf(first);
    const QString title = facts.title(m_node);
    const QString words = toQString(causeWords(first.code));
    const QString part = toQString(partText(first.share));
    say(mark + tr("First cause"), tr("%1 %2: %3").arg(part, title, words),
        old
            + tr("%1 of the noise of the outputs: %2, %3; click selects it")
                  .arg(part, title, words));
}

} // namespace qs
