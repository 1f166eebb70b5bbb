// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/plan/plan.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// One reading of a value: an edge of the float graph. A value.
struct Edge
{
    ValueRef value;
    Use reader;
    friend bool operator==(const Edge&, const Edge&) = default;
};

/// The graph has the edge: the reader reads the value there.
bool isEdge(const Graph& graph, const Edge& edge);

/// A rule that may decide an edge.
struct EdgeRuleCandidate
{
    enum class Of
    {
        Edge, ///< an edge rule
        Reader, ///< a rule of the operator that reads
        Producer ///< a rule of the operator that makes the value
    };
    Of of = Of::Edge;
    Rule rule;
};

/// How the value is quantized on its way to the reader, and by which rule.
struct EdgeFacts
{
    /// Its index in edge rules: its place among the reader's activations. Empty where edge rules do
    /// not apply (weights, operators that are not planned, the model's output).
    std::optional<int> index;
    ObserverId observer; ///< the last one that the value passes; none if it is read as float
    /// The value's own observer if another follows on the edge: the value is quantized twice.
    ObserverId before;
    std::vector<EdgeRuleCandidate> candidates; ///< strongest first
    int won = -1; ///< index into `candidates`; -1 without any
    std::string why; ///< one sentence
};
EdgeFacts edgeFacts(const Graph& graph, const Plan& plan, const Recipe& recipe, const Edge& edge);

/// The edges that get an edge rule together with this one: operators that only move or select
/// values observe all that they read by one observer.
std::vector<Edge> decidedTogether(const Graph& graph, const Plan& plan, const Edge& edge);

/// All edges of the value that an edge rule reaches.
std::vector<Edge> edgesOf(const Graph& graph, const Plan& plan, ValueRef value);

/// Other places that would get an observer set on this edge, since the operators after it share it:
/// values with all their readers, and single readings. Empty without any.
std::vector<ObservedEdge> sharedAlong(const Graph& graph, const Plan& plan, const Edge& edge);

/// Gives each edge the qconfig by an edge rule, replacing earlier ones; without a qconfig removes
/// its rules.
void setEdgeRules(Recipe& recipe, const Graph& graph, const Plan& plan,
                  const std::vector<Edge>& edges, const std::optional<NamedQConfig>& qconfig);

} // namespace qs
