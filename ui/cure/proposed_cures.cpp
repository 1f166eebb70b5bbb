// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cure/proposed_cures.h"

#include "engine/configure/edit_text.h"
#include "engine/configure/json/cure_json.h"
#include "engine/edit/cures/locate_cures.h"
#include "engine/edit/cures/model_cures.h"
#include "engine/plan/module_statistics.h"
#include "engine/result/part_text.h"
#include "ui/cure/shown_causes.h"
#include "ui/session/coalesce.h"
#include "ui/session/decisions/cure_decisions.h"
#include "ui/session/text.h"

#include <QTimer>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr int kRestMs = 300;

/// Whether the cure removes all noise of its place.
bool removesAll(CureKind kind)
{
    return kind == CureKind::Float || kind == CureKind::FloatResult;
}

bool isSameCure(const Cure& a, const Cure& b)
{
    return countedCures({a}) == countedCures({b});
}

/// Returns the only cure that `longer` has in addition to `shorter`; empty if anything else
/// differs.
std::optional<Cure> onlyNewCure(const Recipe& shorter, const Recipe& longer)
{
    std::vector<Cure> more = countedCures(longer.cures);
    const std::vector<Cure> less = countedCures(shorter.cures);
    if (more.size() != less.size() + 1 || shorter.mapping != longer.mapping
        || shorter.edits != longer.edits || shorter.floatNeedless != longer.floatNeedless)
        return std::nullopt;
    for (const Cure& cure : less) {
        const auto same = std::find(more.begin(), more.end(), cure);
        if (same == more.end())
            return std::nullopt;
        more.erase(same);
    }
    return more.front();
}

/// Returns the gain of one preview over another, at the worst output.
std::optional<double> gainOver(const PreviewPtr& before, const PreviewPtr& after)
{
    const auto was = before ? before->outputDb() : std::nullopt;
    const auto is = after ? after->outputDb() : std::nullopt;
    return was && is ? std::optional(*is - *was) : std::nullopt;
}

} // namespace

double predictedGain(double share)
{
    constexpr double kMostShare = 0.9999;
    return shareDb(1 - std::min(share, kMostShare));
}

ProposedCures::ProposedCures(Workspace& workspace, ShownCauses& causes, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_causes(causes)
    , m_asking(new QTimer(this))
{
    m_asking->setSingleShot(true);
    m_asking->setInterval(kRestMs);
    connect(m_asking, &QTimer::timeout, this, &ProposedCures::ask);
    connect(&causes, &ShownCauses::renewed, this, [this] { m_measured.clear(); });
    const auto anew = coalesced(this, [this] { describe(); });
    connect(&causes, &ShownCauses::chosenChanged, this, anew);
    const Document* document = &workspace.document();
    connect(document, &Document::graphEdited, this, anew);
    connect(document, &Document::recipeChanged, this,
            [this] { m_tried.reset(); }); // it was of another
    connect(document, &Document::recipeChanged, this, coalesced(this, [this] { refresh(); }));
    connect(document, &Document::settingsChanged, this, [this] { m_measured.clear(); });
    connect(document, &Document::resultsChanged, this, &ProposedCures::takePreview);
    connect(&workspace.live(), &LivePreview::beforeChanged, this, &ProposedCures::takePreview);
    connect(&workspace.live(), &LivePreview::tried, this, &ProposedCures::takeTrial);
    describe();
}

void ProposedCures::describe()
{
    m_rows.clear();
    std::vector<Proposal> proposals;
    for (const std::size_t index : m_causes.chosen()) {
        const Cause& cause = m_causes.causes()[index];
        for (const Proposal& proposal : cause.proposals) {
            const bool isListed
                = std::any_of(proposals.begin(), proposals.end(), [&](const Proposal& other) {
                      return isSameCure(other.cure, proposal.cure)
                          && other.qconfig == proposal.qconfig;
                  });
            if (isListed)
                continue;
            proposals.push_back(proposal);
            ProposedCure& row = m_rows.emplace_back();
            row.proposal = proposal;
            row.predictedDb = predictedGain(cause.share);
            row.isMost = !removesAll(proposal.cure.kind);
        }
    }
    const Document& document = m_workspace.document();
    if (document.model() && document.edited()) {
        const QStringList texts = proposalTexts(document, proposals);
        for (std::size_t i = 0; i < m_rows.size(); ++i)
            m_rows[i].text = texts[int(i)];
        setCosts();
    }
    refresh();
}

/// Sets what each cure costs at run time.
void ProposedCures::setCosts()
{
    const Document& document = m_workspace.document();
    std::vector<Cure> cures;
    for (ProposedCure& row : m_rows) {
        const CureKind kind = row.proposal.cure.kind;
        row.cost = kind == CureKind::Dynamic ? tr("ranges at run time")
            : kind == CureKind::Split        ? tr("a few multiplications")
            : addsMultiplication(*document.edited(), row.proposal.cure)
            ? tr("a multiplication per value")
            : tr("none");
        cures.push_back(row.proposal.cure);
        cures.back().off = kind != CureKind::Float; // only floats are located
    }
    const auto macs = macsByOperator(*document.model());
    double all = 0;
    for (const auto& [node, count] : macs)
        all += double(count);
    for (const CurePlace& place :
         locateCures(document.model(), *document.edited()->addresses, cures)) {
        double taken = 0;
        for (const NodeId node : place.nodes)
            if (const auto known = macs.find(node); known != macs.end())
                taken += double(known->second);
        if (taken > 0)
            m_rows[place.cure].cost = tr("%1 float").arg(toQString(partText(taken / all)));
    }
}

/// Sets what follows from the recipe and from previews.
void ProposedCures::refresh()
{
    const Document& document = m_workspace.document();
    const auto& cures = document.recipe().cures;
    for (ProposedCure& row : m_rows) {
        const Cure cure = proposedCure(document, row.proposal);
        row.isOn = std::any_of(cures.begin(), cures.end(),
                               [&](const Cure& one) { return !one.off && isSameCure(one, cure); });
        const auto known = m_measured.find(cureText(cure));
        row.measuredDb = known == m_measured.end() ? std::nullopt : std::optional(known->second);
    }
    Q_EMIT changed();
}

void ProposedCures::setOn(std::size_t row, bool on)
{
    if (row >= m_rows.size() || m_rows[row].isOn == on)
        return;
    const Proposal proposal = m_rows[row].proposal;
    const Cure cure = proposedCure(m_workspace.document(), proposal);
    const auto& cures = m_workspace.document().recipe().cures;
    const auto same = std::find_if(cures.begin(), cures.end(), [&](Cure one) {
        one.off = false;
        return isSameCure(one, cure);
    });
    const auto index = std::size_t(same - cures.begin());
    if (same == cures.end())
        takeProposal(m_workspace, proposal);
    else if (on)
        switchCure(m_workspace, index, false);
    else
        takeCureAway(m_workspace, index);
}

void ProposedCures::tryOut(std::size_t row)
{
    m_wanted = row;
    m_asking->start();
}

void ProposedCures::stopTrying()
{
    m_asking->stop();
    m_wanted.reset();
    if (m_tried)
        m_workspace.live().stopTrying();
    m_tried.reset();
}

void ProposedCures::ask()
{
    // A search has the engine; each preview would interrupt it.
    if (!m_wanted || *m_wanted >= m_rows.size() || m_rows[*m_wanted].measuredDb
        || !m_workspace.live().isReady() || m_workspace.cureSearch().isRunning())
        return;
    const ProposedCure& row = m_rows[*m_wanted];
    const Cure cure = proposedCure(m_workspace.document(), row.proposal);
    Recipe recipe = m_workspace.document().recipe();
    if (row.isOn)
        std::erase_if(recipe.cures,
                      [&](const Cure& one) { return !one.off && isSameCure(one, cure); });
    else
        recipe = withProposal(std::move(recipe), row.proposal);
    m_tried = cure;
    m_triedOff = row.isOn;
    m_workspace.live().tryRecipe(recipe);
}

void ProposedCures::takeTrial()
{
    if (!m_tried)
        return;
    const auto gain = gainOver(m_workspace.live().trialBefore(), m_workspace.live().trial());
    if (gain)
        note(*m_tried, m_triedOff ? -*gain : *gain);
    m_tried.reset();
}

/// Notes the gain of the only cure that was switched since the last comparison.
void ProposedCures::takePreview()
{
    const Recipe* before = m_workspace.live().comparedRecipe();
    const auto gain = m_workspace.live().gain();
    if (!before || !gain)
        return;
    const Recipe& now = m_workspace.document().recipe();
    if (const auto added = onlyNewCure(*before, now))
        note(*added, *gain);
    else if (const auto removed = onlyNewCure(now, *before))
        note(*removed, -*gain);
}

void ProposedCures::note(const Cure& cure, double gainDb)
{
    const auto [known, isNew] = m_measured.emplace(cureText(cure), gainDb);
    if (!isNew && known->second == gainDb)
        return;
    known->second = gainDb;
    refresh();
}

} // namespace qs
