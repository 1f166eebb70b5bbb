// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/recipe.h"
#include "engine/plan/plan.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

/// An edge of the float graph: a value and one of its uses. A value.
struct Edge
{
    ValueRef value;
    Use reader;
    friend bool operator==(const Edge&, const Edge&) = default;
};

/// Whether the graph has the edge: the reader's argument reads the value.
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

/// How a value is quantized for one reader, and by which rule.
struct EdgeFacts
{
    /// The edge's index in edge rules: its position among the reader's activations. Empty if edge
    /// rules do not apply (weights, operators that are not planned, the model's output).
    std::optional<int> index;
    ObserverId observer; ///< the last observer before the reader; invalid if it reads float
    /// The value's own observer if another follows on the edge: the value is quantized twice.
    ObserverId before;
    std::vector<EdgeRuleCandidate> candidates; ///< strongest first
    int won = -1; ///< index into `candidates`; -1 without any
    std::string why; ///< one sentence
};
EdgeFacts edgeFacts(const Graph& graph, const Plan& plan, const Recipe& recipe, const Edge& edge);

/// The edges that get an edge rule together with this one: operators that only move or select
/// values use one observer for all inputs.
std::vector<Edge> decidedTogether(const Graph& graph, const Plan& plan, const Edge& edge);

/// All edges of the value that an edge rule reaches.
std::vector<Edge> edgesOf(const Graph& graph, const Plan& plan, ValueRef value);

/// Other places that would use an observer set on this edge, because the operators after it share
/// it: values with all their readers, and single edges.
std::vector<ObservedEdge> sharedAlong(const Graph& graph, const Plan& plan, const Edge& edge);

/// Gives each edge the qconfig by an edge rule, replacing earlier ones; without a qconfig removes
/// its rules.
void setEdgeRules(Recipe& recipe, const Graph& graph, const Plan& plan,
                  const std::vector<Edge>& edges, const std::optional<NamedQConfig>& qconfig);

} // namespace qs
