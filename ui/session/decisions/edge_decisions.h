// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/configure/recipe.h"
#include "engine/plan/rules/edge_rules.h"
#endif

#include <QString>

#include <optional>
#include <vector>

namespace qs {

class Facts;
class Workspace;

/// "conv1 + bn1 ► conv2 · conv2d"
QString edgeText(const Facts& facts, const Edge& edge);
/// The edges beside the selected node or unit: what it reads, in order, then what reads it.
std::vector<Edge> edgesAround(Workspace& workspace);
/// Looks at the edge `by` places further, round and round; at the first where none is looked at.
void stepEdge(Workspace& workspace, int by);

/// Through which the edge's value is read; none where it is read in float, or before planning.
ObserverId observerOnEdge(Workspace& workspace, const Edge& edge);
/// The inspected edge: the selected one; else, if the first observed output of the selected node
/// has no own observer, the first edge to a reader with one.
std::optional<Edge> inspectedEdge(Workspace& workspace);

/// The edges that a decision on this one is written for: with all that shares its observer, and
/// with the value's other readers where they are meant as well.
std::vector<Edge> edgesMeant(Workspace& workspace, const Edge& edge, bool allReaders);
/// One undoable step: edge rules that give the qconfig of that name; "" keeps float, nothing takes
/// the rules away.
void assignEdge(Workspace& workspace, const Edge& edge, bool allReaders,
                const std::optional<std::string>& qconfigName);
/// The same with the qconfig that is in effect on the edge, observing activations by `spec`; a new
/// one is named after it and `word`.
void assignEdgeSpec(Workspace& workspace, const Edge& edge, bool allReaders,
                    const ObserverSpec& spec, const QString& word);
/// What a way to observe is given to.
struct SpecTarget
{
    enum class Kind
    {
        Edge,
        Value, ///< what the node makes, for all its readers
        Weight ///< of the node
    };
    Kind kind = Kind::Edge;
    Edge edge;
    NodeId node;
};
/// Whose alternatives are meant; none where it is not observed.
ObserverId observerOf(Workspace& workspace, const SpecTarget& target);
/// A step of the history before it is made.
struct RecipeStep
{
    QString text;
    Recipe recipe;
};
/// The step that observes the target by `spec`, or keeps it in float. A value gets it by edge rules
/// where quantized operators alone read it, else by a rule of its operator, as a weight does. None
/// where nothing is decided there.
std::optional<RecipeStep> specStep(Workspace& workspace, const SpecTarget& target,
                                   const std::optional<ObserverSpec>& spec, const QString& word);
/// Makes that step.
void assignSpec(Workspace& workspace, const SpecTarget& target,
                const std::optional<ObserverSpec>& spec, const QString& word);
/// One undoable step: takes away the edge rules that decide what the nodes make.
void clearOutputRules(Workspace& workspace, const std::vector<NodeId>& nodes);
/// One undoable step: takes away the edge or node rules that decide the target.
void clearSpec(Workspace& workspace, const SpecTarget& target);
/// What an observer on the edge, now or by a rule, would start from: the one it has, else what its
/// reader's or its maker's qconfig says of activations.
std::optional<NamedQConfig> qconfigOnEdge(Workspace& workspace, const Edge& edge);

} // namespace qs
