// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/blame/causes/cause.h"
#include "engine/configure/recipe.h"
#include "engine/graph/graph.h"
#endif

#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace qs {

class Document;
class Workspace;

/// A cure of the document's recipe as a list shows it. A value.
struct CureRow
{
    QString text; ///< the cure with the displayed names of nodes and its remarks
    QString problem; ///< why the cure was left out; empty if it was applied
    std::vector<NodeId> nodes; ///< that the cure names
    bool off = false;
};
/// One row per cure, in the recipe's order; empty without a model.
std::vector<CureRow> cureRows(const Document& document);

/// The mark of the cure that gave a rule of the shown plan: "cure float (tune 1f3a)"; empty if the
/// rule comes from the recipe's mapping.
QString cureMarkOf(const Document& document, const Rule& rule);

/// The texts of proposed cures, as in the list: "keep head · linear float". There must be a model.
QStringList proposalTexts(const Document& document, const std::vector<Proposal>& proposals);
QString proposalText(const Document& document, const Proposal& proposal);
/// The cure as the document's recipe would hold it: with the name of its qconfig there.
Cure proposedCure(const Document& document, const Proposal& proposal);
/// The recipe with the cure added, and with the qconfig that the proposal defines.
Recipe withProposal(Recipe recipe, const Proposal& proposal);
/// One undoable step: adds the cure to the recipe, with the qconfig that the proposal defines.
void takeProposal(Workspace& workspace, const Proposal& proposal);

/// Each is one undoable step; an index beyond the last cure has no effect.
void switchCure(Workspace& workspace, std::size_t index, bool off);
void takeCureAway(Workspace& workspace, std::size_t index);

} // namespace qs
