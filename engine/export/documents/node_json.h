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

/// Writes the `nodes[]` entries of `result.json` and `plan --json`. Borrows what `parts` refers to;
/// lives for one document.
class NodeJson
{
public:
    /// With `numbers` false the entries carry no scales, ranges or errors.
    NodeJson(const ResultParts& parts, bool numbers);

    /// Entries of inputs, operators, and of the parameters and constants whose value is observed,
    /// in graph order. Fails only if cancelled.
    Result<Json> nodes(const JobContext& job = {}) const;
    /// The place of each observer in `observations.npz`: `{key, node, place, index}`; `key` is the
    /// prefix of its arrays.
    Json observations() const;

private:
    Json node(const Node& node, const NodePlan* plan) const;
    void addVerdict(Json& json, const Node& node, const NodePlan* plan) const;
    void addValues(Json& json, const Node& node) const;
    /// Index into the node's `inputs` of the input that an edge rule applies to.
    std::size_t inputIndex(const Node& node, const Rule& edge) const;
    /// The observer of the value that an input reads, if the producer's `output` entry does not
    /// report it; else none.
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

/// The hint on the calibration's amount of data and the recorded ranges by observer:
/// `{batches, hint, since, ranges, settled, is_settled, worst[], observers[]}`. `hint` is null and
/// the keys up to `worst` are missing without a hint. Null if no ranges were recorded.
Json convergenceJson(const ResultParts& parts);

/// Findings about lost precision, each with at least `{kind, node, text}`. The second form adds the
/// findings of a result: bounds of scales, and ranges that several values share at a cost. It fails
/// only if cancelled.
Json findingsJson(const Graph& model, const Plan& plan);
Result<Json> findingsJson(const ResultParts& parts, const JobContext& job);
/// `{dtype, shape}`; a dimension is a number, or text if it is symbolic or unknown. `shape` is null
/// if the rank is unknown or the value is not a tensor.
Json typeJson(const ValueType& type);
/// Each alternative quantization of a value with its parameters and its error.
Json alternativesJson(const std::vector<Alternative>& alternatives);
Json coverageJson(const Plan& plan);
/// `fake_quantizers`: how many fake quantizers of the file have a range (`found`) and how many of
/// these ranges the plan uses (`used`). An empty object without ranges.
Json fakeQuantizersJson(const Graph& model, const Plan& plan);
/// Adds "reason" and "reason_code" to `json`; both are null if the reason is empty.
void addReason(Json& json, const Reason& reason);
/// "target": the backend that the recipe names and its "global" qconfig (null if not set). If the
/// recipe names no target, "target_assumed" states the assumption and what to do.
Json targetJson(const Recipe& recipe);
/// `{name, module, function, nodes[], modules[]}` for each scope that the recipe shows as one node.
Json wrapsJson(const Graph& model, const std::vector<WrappedScope>& wraps);
/// The scope's name by the name of each node that is glue of a wrapped scope. Borrows the names.
using WrapKeys = std::unordered_map<std::string_view, const std::string*>;
WrapKeys wrapKeys(const Graph& model, const std::vector<WrappedScope>& wraps);
/// Adds `"wrap"`, the scope's name, to an entry of `nodes[]` if its node is glue of a scope.
void markWrapped(Json& node, const WrapKeys& keys);
/// Operator name in documents: the target, or for other nodes their kind, such as "input".
std::string opName(const Node& node);

} // namespace qs
