// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/decisions/cure_decisions.h"

#include "engine/configure/qconfigs/derived_qconfig.h"
#include "engine/edit/edited_model.h"
#include "engine/graph/text/node_titles.h"
#include "engine/plan/cures/expand_cures.h"
#include "ui/session/document.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

namespace qs {

namespace {

/// Returns a function that maps an address in the file to the title of the model's node.
OperatorNames titlesIn(const Graph& model, const Addresses& addresses, const NodeTitles& titles)
{
    return [&](const ValueAddress& address) {
        const auto id = addresses.find(address);
        const Node* node = id ? model.tryGet(*id) : nullptr;
        return node ? titles.of(*node) : std::string();
    };
}

/// Returns the proposed cure for the recipe, and adds the qconfig that it names to `recipe`.
Cure adopted(const Proposal& proposal, Recipe& recipe)
{
    Cure cure = proposal.cure;
    if (proposal.qconfig)
        cure.qconfig = addQConfig(recipe, *proposal.qconfig, "why").name;
    return cure;
}

/// Returns why the plan or the model's bounds left the cure out; empty if they did not.
QString problemOf(const Document& document, const Cure& cure)
{
    if (!document.plan() || cure.off)
        return {};
    const std::string line = unfitCureLine(
        cureText(cure, quotedNames(*document.model(), *document.edited()->addresses)), "");
    for (const std::string& warning : document.plan()->warnings)
        if (warning.starts_with(line))
            return toQString(warning.substr(line.size()));
    return {};
}

} // namespace

std::vector<CureRow> cureRows(const Document& document)
{
    std::vector<CureRow> rows;
    const Recipe& recipe = document.recipe();
    if (recipe.cures.empty() || !document.model() || !document.edited())
        return rows;
    const Graph& model = *document.model();
    const Addresses& addresses = *document.edited()->addresses;
    const NodeTitles titles(model);
    for (const Cure& cure : recipe.cures) {
        Cure told = cure;
        told.off = false; // the row shows it
        rows.push_back({toQString(cureLine(told, titlesIn(model, addresses, titles))),
                        problemOf(document, cure),
                        {},
                        cure.off});
    }
    std::vector<Cure> all = recipe.cures;
    for (Cure& cure : all)
        cure.off = false;
    for (const CurePlace& place : locateCures(document.model(), addresses, all)) {
        std::vector<NodeId>& nodes = rows[place.cure].nodes;
        nodes = place.nodes;
        if (nodes.empty() && place.at)
            nodes.push_back(place.at.node);
    }
    return rows;
}

QString cureMarkOf(const Document& document, const Rule& rule)
{
    const Recipe& recipe = document.recipe();
    if (recipe.cures.empty() || !document.plan() || !document.edited())
        return {};
    const Addresses& addresses = *document.edited()->addresses;
    // The shown plan includes the cures' effect; its node names still match their rules.
    const CureExpansion cures = expandCures(*document.model(), *document.plan(), recipe,
                                            locateCures(document.model(), addresses, recipe.cures),
                                            quotedNames(*document.model(), addresses));
    const int cure = cures.cureOf(rule);
    return cure < 0 ? QString() : toQString(cureMark(recipe.cures[std::size_t(cure)]));
}

QStringList proposalTexts(const Document& document, const std::vector<Proposal>& proposals)
{
    const NodeTitles titles(*document.model());
    const OperatorNames names = titlesIn(*document.model(), *document.edited()->addresses, titles);
    QStringList texts;
    for (const Proposal& proposal : proposals)
        texts << toQString(cureText(proposedCure(document, proposal), names));
    return texts;
}

QString proposalText(const Document& document, const Proposal& proposal)
{
    return document.edited() ? proposalTexts(document, {proposal}).front() : QString();
}

Cure proposedCure(const Document& document, const Proposal& proposal)
{
    Recipe recipe = document.recipe();
    return adopted(proposal, recipe);
}

Recipe withProposal(Recipe recipe, const Proposal& proposal)
{
    Cure cure = adopted(proposal, recipe);
    recipe.cures.push_back(std::move(cure));
    return recipe;
}

void takeProposal(Workspace& workspace, const Proposal& proposal)
{
    const QString text = proposalText(workspace.document(), proposal);
    workspace.change(QObject::tr("cure: %1").arg(text),
                     withProposal(workspace.document().recipe(), proposal));
}

void switchCure(Workspace& workspace, std::size_t index, bool off)
{
    Recipe recipe = workspace.document().recipe();
    if (index >= recipe.cures.size() || recipe.cures[index].off == off)
        return;
    recipe.cures[index].off = off;
    const QString text = toQString(cureText(recipe.cures[index]));
    workspace.change((off ? QObject::tr("switch off: %1") : QObject::tr("switch on: %1")).arg(text),
                     std::move(recipe));
}

void takeCureAway(Workspace& workspace, std::size_t index)
{
    Recipe recipe = workspace.document().recipe();
    if (index >= recipe.cures.size())
        return;
    const QString text = toQString(cureText(recipe.cures[index]));
    recipe.cures.erase(recipe.cures.begin() + std::ptrdiff_t(index));
    workspace.change(QObject::tr("take away: %1").arg(text), std::move(recipe));
}

} // namespace qs
