// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/documents/observer_places.h"
#include "engine/export/documents/result_writer.h"
#include "engine/graph/text/node_titles.h"
#include "engine/plan/block/prepare_settings.h"
#include "engine/result/error_json.h"

#include <string_view>
#include <unordered_map>

namespace qs {

/// The `nodes[]` entries of `result.json` and `plan --json`. Borrows everything; lives for one
/// document.
class NodeJson
{
public:
    /// With `numbers` false the entries carry no scales, ranges or errors.
    NodeJson(const ResultParts& parts, bool numbers);

    /// Inputs, parameters and constants with an observer, operators; in graph order. Error:
    /// Cancelled.
    Result<Json> nodes(const JobContext& job = {}) const;
    /// Which arrays of `observations.npz` belong to which place: `{key, node, place, index}`.
    Json observations() const;

private:
    Json node(const Node& node, const NodePlan* plan) const;
    void addVerdict(Json& json, const Node& node, const NodePlan* plan) const;
    void addValues(Json& json, const Node& node) const;
    /// The observer of what that input reads, where the producer's `output` does not tell it.
    /// Of an edge rule's input among the node's `inputs`.
    std::size_t inputIndex(const Node& node, const Rule& edge) const;
    ObserverId inputObserver(NodeId node, std::size_t index, ValueRef value) const;
    void addNumbers(Json& json, const Node& node) const;
    Json qparams(ObserverId observer, NodeId at) const;
    /// The values inside a custom module, each with its parameters and its cumulative error.
    Json interior(const Node& node) const;
    Json weight(const Node& node, std::size_t index) const;
    const PlannedObserver* planned(ObserverId id) const;

    const ResultParts& m_parts;
    bool m_numbers;
    ObserverPlaces m_places;
    NodeTitles m_titles;
    std::unordered_map<NodeId, const NodeError*> m_errors;
    std::unordered_map<NodeId, const KernelCheck*> m_checks;
    std::unordered_map<NodeId, const FormDeparture*> m_departures;
};

/// What costs precision: the plan's findings, and of a result the ranges that are shared at a cost;
/// `{kind, node, text}` each. Of a result it can be cancelled.
Json findingsJson(const Graph& model, const Plan& plan);
Result<Json> findingsJson(const ResultParts& parts, const JobContext& job);
/// `{dtype, shape}`; a dimension is a number, or text where it is symbolic or unknown.
Json typeJson(const ValueType& type);
/// Each way with its parameters and its error.
Json alternativesJson(const std::vector<Alternative>& alternatives);
Json coverageJson(const Plan& plan);
/// `fake_quantizers`: how many of the file's have a range and of how many it is used; an empty
/// object where the file has none.
Json fakeQuantizersJson(const Graph& model, const Plan& plan);
/// "reason" and "reason_code", or null for both.
void addReason(Json& json, const Reason& reason);
/// "target", the hardware target: the backend as the recipe names it and what stands under
/// "global"; "target_assumed" with what to do where the recipe names none.
Json targetJson(const Recipe& recipe);
/// `{name, module, function, nodes[], modules[]}` of each scope that the recipe shows as one node.
Json wrapsJson(const Graph& model, const std::vector<WrappedScope>& wraps);
/// The scope's name for each node that is glue of one, by the node's name. Borrows both.
using WrapKeys = std::unordered_map<std::string_view, const std::string*>;
WrapKeys wrapKeys(const Graph& model, const std::vector<WrappedScope>& wraps);
/// Adds `"wrap"`, the scope's name, to an entry of `nodes[]` that is glue of one.
void markWrapped(Json& node, const WrapKeys& keys);
/// How documents name the operator: the target, or "input", "parameter", "constant".
std::string opName(const Node& node);

} // namespace qs
