// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cure/shown_causes.h"

#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <algorithm>

namespace qs {

ShownCauses::ShownCauses(Workspace& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
{
    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace, &Workspace::factsChanged, this, later);
    connect(&workspace.document(), &Document::modelChanged, this, later);
    connect(&workspace.document(), &Document::graphEdited, this, later);
    connect(&workspace.document(), &Document::recipeChanged, this, later);
    connect(&workspace.document(), &Document::resultsChanged, this, later);
    connect(&workspace.causes(), &CauseFinder::changed, this, later);
    connect(&workspace.cureSearch(), &CureSearch::changed, this, later);
    refresh();
}

ShownCauses::State ShownCauses::currentState() const
{
    const Document& document = m_workspace.document();
    if (!document.model())
        return State::NoModel;
    if (m_workspace.causes().isRunning() || (!m_blame && m_workspace.cureSearch().isRunning()))
        return State::Searching;
    if (m_blame)
        return m_causes.empty() ? State::Healthy : State::Found;
    return document.calibration() ? State::NotSearched : State::Uncalibrated;
}

void ShownCauses::refresh()
{
    const Document& document = m_workspace.document();
    const TuneState& search = m_workspace.cureSearch().state();
    const DiagnosisPtr& found = document.diagnosis();
    BlamePtr blame = found ? found->blame : search.blame;
    // A cure that changes the graph drops the diagnosis. The list stays, to take the cure back.
    m_isOfOtherGraph
        = !blame && m_blame && m_isDiagnosis && m_modelNumber == document.modelNumber();
    if (m_isOfOtherGraph)
        blame = m_blame;
    const bool isDrawn = blame && document.model()
        && std::all_of(blame->sites.begin(), blame->sites.end(), [&](const SiteBlame& site) {
                             return document.model()->tryGet(site.site.node);
                         });
    if (!isDrawn)
        blame.reset();
    const bool isRenewed = blame != m_blame;
    if (isRenewed) {
        m_blame = std::move(blame);
        m_modelNumber = document.modelNumber();
        m_isDiagnosis = found != nullptr;
        m_causes = !m_blame ? std::vector<Cause>() : found ? found->causes : search.causes;
        group();
        m_chosen = m_groups.empty() ? std::vector<std::size_t>() : m_groups.front().causes;
        Q_EMIT renewed();
        Q_EMIT chosenChanged();
    }
    m_state = currentState();
    const QString shown = stateText() + staleReason();
    if (!isRenewed && shown == m_shown)
        return; // a search that goes on changes nothing here
    m_shown = shown;
    Q_EMIT changed();
}

void ShownCauses::group()
{
    m_groups.clear();
    for (std::size_t i = 0; i < m_causes.size(); ++i) {
        const auto same
            = std::find_if(m_groups.begin(), m_groups.end(),
                           [&](const CauseGroup& one) { return one.code == m_causes[i].code; });
        CauseGroup& group = same == m_groups.end() ? m_groups.emplace_back() : *same;
        group.code = m_causes[i].code;
        group.share += m_causes[i].share;
        group.causes.push_back(i);
    }
    std::stable_sort(m_groups.begin(), m_groups.end(),
                     [](const CauseGroup& a, const CauseGroup& b) { return a.share > b.share; });
}

double ShownCauses::rest() const
{
    double rest = m_groups.empty() ? 0 : 1;
    for (const CauseGroup& group : m_groups)
        rest -= group.share;
    return std::max(0.0, rest);
}

QString ShownCauses::stateText() const
{
    switch (m_state) {
    case State::NoModel:
        return tr("Open a model to cure its losses");
    case State::Uncalibrated:
        return tr("Not calibrated yet: causes are searched in the calibrated ranges");
    case State::NotSearched:
        return tr("The causes of the noise are not searched yet");
    case State::Searching:
        return m_workspace.causes().isRunning()
            ? tr("Looking for causes, %1 %").arg(int(100 * m_workspace.causes().fraction()))
            : tr("The search finds the causes first");
    case State::Healthy:
        return tr("Nothing to cure: %1").arg(shownSqnr(shareDb(noise())));
    case State::Found:
        break;
    }
    return {};
}

QString ShownCauses::staleReason() const
{
    const Document& document = m_workspace.document();
    if (!m_blame)
        return {};
    if (m_isOfOtherGraph)
        return tr("graph edited");
    if (document.diagnosis())
        return document.isDiagnosisStale() ? document.diagnosisStaleReason() : QString();
    return document.recipe() == m_workspace.cureSearch().request().recipe ? QString()
                                                                          : tr("recipe changed");
}

NodeId ShownCauses::nodeOf(std::size_t cause) const
{
    return m_blame->sites.at(m_causes.at(cause).site).site.node;
}

QString ShownCauses::titleOf(std::size_t cause) const
{
    return m_workspace.facts().title(nodeOf(cause));
}

QStringList ShownCauses::evidenceOf(std::size_t cause) const
{
    QStringList lines;
    for (const std::string& line : m_causes.at(cause).evidence)
        lines << m_workspace.facts().titled(toQString(line));
    return lines;
}

void ShownCauses::choose(std::vector<std::size_t> causes)
{
    std::vector<NodeId> nodes;
    for (const std::size_t cause : causes)
        nodes.push_back(nodeOf(cause));
    if (m_chosen != causes) {
        m_chosen = std::move(causes);
        Q_EMIT chosenChanged();
    }
    if (m_workspace.selectDrawn(std::move(nodes)))
        Q_EMIT revealWanted();
}

QString causeShort(CauseCode code)
{
    return toQString(causeName(code)).replace(QLatin1Char('_'), QLatin1Char(' '));
}

} // namespace qs
