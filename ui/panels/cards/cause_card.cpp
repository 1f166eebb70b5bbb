// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/cards/cause_card.h"

#include "engine/result/part_text.h"
#include "ui/session/decisions/cure_decisions.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"

#include <QPushButton>

#include <algorithm>

namespace qs {

CauseCard::CauseCard(Workspace& workspace, QWidget* parent)
    : Card(tr("Noise"), parent)
    , m_workspace(workspace)
{
    refresh();
}

void CauseCard::refresh()
{
    const Facts& facts = m_workspace.facts();
    const auto& selection = m_workspace.selection();
    const auto noise = selection.edge() ? std::nullopt : facts.noise(selection.nodes());
    setVisible(noise.has_value());
    const Filling filling(*this);
    if (!noise)
        return;
    const bool isOld = facts.diagnosisStale();
    const double most = facts.diagnosis()->units.front().noise.part;
    addBar(tr("of the output"), std::clamp(noise->part, 0.0, 1.0),
           cividis(most > 0 ? noise->part / most : 0),
           toQString(partText(noise->part, noise->standardError)), isOld);
    const Cause* cause = facts.cause(selection.nodes());
    if (cause) {
        addText(toQString(causeWords(cause->code)));
        for (const std::string& line : cause->evidence)
            addText(facts.titled(toQString(line)), true);
    }
    if (isOld)
        addText(tr("Out of date, %1: find causes again.")
                    .arg(m_workspace.document().diagnosisStaleReason()),
                true);
    else if (cause && !cause->proposals.empty())
        showCure(*cause);
}

void CauseCard::showCure(const Cause& cause)
{
    const Proposal& proposal = cause.proposals.front();
    const QString text = proposalText(m_workspace.document(), proposal);
    addText(tr("Possible cure: %1").arg(text));
    QPushButton* take = addButton(tr("Take the cure"));
    take->setObjectName(QStringLiteral("takeCure"));
    take->setToolTip(tr("One step of the history; the tab Graph edits lists and switches cures"));
    connect(take, &QPushButton::clicked, this,
            [this, proposal] { takeProposal(m_workspace, proposal); });
}

} // namespace qs
