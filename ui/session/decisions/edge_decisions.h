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
/// The edges of the selected node or unit: those to its inputs, in order, then those to its
/// readers.
std::vector<Edge> edgesAround(Workspace& workspace);
/// Inspects the edge `by` places further, wrapping around; the first if no edge is inspected.
void stepEdge(Workspace& workspace, int by);

/// The observer through which the edge's value is read; none if it is read as float, or before
/// planning.
ObserverId observerOnEdge(Workspace& workspace, const Edge& edge);
/// The inspected edge: the selected one; else, if no observer covers all readers of the selected
/// node's first observed output, the first edge to a reader with an observer.
std::optional<Edge> inspectedEdge(Workspace& workspace);
/// The observer of the selected value inside a module, of the inspected edge, else of the selected
/// node's output. None if it is not observed.
ObserverId selectedObserver(Workspace& workspace);

/// The edges that a decision on this edge covers: with all that share its observer and, with
/// `allReaders`, the value's other readers.
std::vector<Edge> edgesMeant(Workspace& workspace, const Edge& edge, bool allReaders);
/// One undoable step: writes edge rules with the qconfig of that name. "" keeps float; nothing
/// removes the rules.
void assignEdge(Workspace& workspace, const Edge& edge, bool allReaders,
                const std::optional<std::string>& qconfigName);
/// One undoable step: as above, with the edge's present qconfig changed to observe activations by
/// `spec`. A new qconfig is named after the present one and `word`.
void assignEdgeSpec(Workspace& workspace, const Edge& edge, bool allReaders,
                    const ObserverSpec& spec, const QString& word);
/// Target of an observer spec.
struct SpecTarget
{
    enum class Kind
    {
        Edge,
        Value, ///< the node's result, for all its readers
        Weight ///< of the node
    };
    Kind kind = Kind::Edge;
    Edge edge;
    NodeId node;
};
/// The observer of the target; none if it is not observed.
ObserverId observerOf(Workspace& workspace, const SpecTarget& target);
/// A step of the history that is not applied yet.
struct RecipeStep
{
    QString text;
    Recipe recipe;
};
/// Returns the step that observes the target by `spec`, or keeps it float without a spec. It writes
/// edge rules for a value that only quantized operators read, else a node rule (always for a
/// weight). Nothing if no rule can apply to the target.
std::optional<RecipeStep> specStep(Workspace& workspace, const SpecTarget& target,
                                   const std::optional<ObserverSpec>& spec, const QString& word);
/// Applies the step of `specStep`, if there is one.
void assignSpec(Workspace& workspace, const SpecTarget& target,
                const std::optional<ObserverSpec>& spec, const QString& word);
/// One undoable step: removes the edge rules that decide the nodes' results.
void clearOutputRules(Workspace& workspace, const std::vector<NodeId>& nodes);
/// One undoable step: removes the edge or node rules that decide the target.
void clearSpec(Workspace& workspace, const SpecTarget& target);
/// The qconfig to start from for an observer on the edge: its present one, else the activation
/// observer in the qconfig of its reader or producer.
std::optional<NamedQConfig> qconfigOnEdge(Workspace& workspace, const Edge& edge);

} // namespace qs
