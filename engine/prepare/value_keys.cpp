// SPDX-License-Identifier: Apache-2.0
#include "engine/prepare/value_keys.h"

#include "engine/execute/interpreter.h"
#include "engine/execute/random/random_draws.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/text/graph_printer.h"

#include <ATen/core/Tensor.h>

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <set>

namespace qs {

namespace {

bool passesOn(const Node& node)
{
    return node.isOp(kObserveTarget) || node.isOp(kStubTarget);
}

/// Nodes that return the values of other float nodes, with those nodes: a convolution returns the
/// value of the batch norm folded into it.
using StandIns = std::map<NodeId, std::set<NodeId>>;
StandIns standIns(const PreparedModel& prepared)
{
    StandIns found;
    for (const auto& [floatValue, value] : prepared.valueOf)
        if (floatValue.node != value.node)
            found[value.node].insert(floatValue.node);
    return found;
}

/// Key of a stored tensor's content.
Key contentKey(const Graph& graph, const Node& node)
{
    static std::atomic<std::int64_t> unreadable = 0;
    const auto store = tensorsOf(graph);
    const auto value
        = store ? store->get(node.tensor) : Result<at::IValue>(fail(ErrorCode::Internal, "none"));
    if (!value || !value->isTensor() || !value->toTensor().defined())
        return KeyBuilder("unreadable").add(++unreadable).key();
    const at::Tensor tensor = value->toTensor().cpu().contiguous();
    KeyBuilder key("content");
    key.add(at::toString(tensor.scalar_type())).add(c10::str(tensor.sizes()));
    key.add(std::string_view(static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()));
    return key.key();
}

/// Computes the keys of one graph; callbacks identify stored tensors and add what the graph does
/// not show of an operator.
class ValueKeyBuilder
{
public:
    using StoredKey = std::function<Key(const Graph&, const Node&)>;
    using AddMore = std::function<void(KeyBuilder&, const Node&)>;

    ValueKeyBuilder(const Graph& graph, StoredKey storedKey, AddMore addMore)
        : m_graph(graph)
        , m_storedKey(std::move(storedKey))
        , m_addMore(std::move(addMore))
    {
    }

    std::unordered_map<ValueRef, Key> run()
    {
        for (const NodePtr& node : m_graph.nodes())
            add(*node);
        return std::move(m_keys);
    }

private:
    void add(const Node& node)
    {
        if (passesOn(node)) {
            m_keys[{node.id, 0}] = m_keys.at(*node.args.at(0).value.asRef());
            return;
        }
        KeyBuilder key(nodeKindName(node.kind));
        key.add(node.target);
        if (node.isStored())
            key.add(m_storedKey(m_graph, node));
        for (const NamedArgument& argument : node.args)
            addArgument(key.add(argument.name), argument.value);
        for (const std::string& text : node.argumentStrings)
            key.add(text);
        for (const auto& body : node.subgraphs)
            addBody(key, *body);
        if (drawsNumbers(node))
            key.add(node.name); // random numbers depend on the name
        m_addMore(key, node);
        const Key whole = key.key();
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
            m_keys[{node.id, i}] = i == 0 ? whole : whole + "." + std::to_string(i);
    }

    void addArgument(KeyBuilder& key, const Argument& argument) const
    {
        if (const ValueRef* ref = argument.asRef()) {
            key.add(m_keys.at(*ref));
        } else if (const auto* list = argument.asList()) {
            key.add("[").add(std::int64_t(list->size()));
            for (const Argument& item : *list)
                addArgument(key, item);
        } else {
            key.add(printArgument(m_graph, argument));
        }
    }

    void addBody(KeyBuilder& key, const Graph& body) const
    {
        key.add(printGraph(body));
        for (const NodePtr& node : body.nodes()) {
            if (node->isStored())
                key.add(m_storedKey(body, *node));
            for (const auto& inner : node->subgraphs)
                addBody(key, *inner);
        }
    }

    const Graph& m_graph;
    const StoredKey m_storedKey;
    const AddMore m_addMore;
    std::unordered_map<ValueRef, Key> m_keys;
};

/// Adds to a folded parameter's key the original parameter and the norms folded into its reader.
void addFolding(KeyBuilder& key, const Graph& graph, NodeId parameter,
                const PreparedModel& prepared, const StandIns& standIns)
{
    std::set<NodeId> seen {parameter};
    std::vector<NodeId> open {parameter};
    while (!open.empty()) {
        const NodeId at = open.back();
        open.pop_back();
        for (const Use& use : graph.users({at, 0})) {
            if (!seen.insert(use.node).second)
                continue;
            const auto folded = standIns.find(use.node);
            if (folded == standIns.end()) {
                open.push_back(use.node);
                continue;
            }
            for (const NodeId id : folded->second)
                key.add("folded").add(prepared.model->get(id).name);
            return;
        }
    }
}

std::unordered_map<ValueRef, Key> keysOf(const PreparedModel& prepared)
{
    const Graph& graph = *prepared.graph;
    const StandIns found = standIns(prepared);
    return ValueKeyBuilder(
               graph,
               [&](const Graph& holder, const Node& node) {
                   KeyBuilder key("stored");
                   key.add(graph.info().sha256).add(node.name).add(node.tensorSha256);
                   if (node.origin && &holder == &graph)
                       addFolding(key, graph, node.id, prepared, found);
                   return key.key();
               },
               [&](KeyBuilder& key, const Node& node) {
                   if (const auto it = found.find(node.id); it != found.end())
                       for (const NodeId id : it->second)
                           key.add(prepared.model->get(id).name);
               })
        .run();
}

/// Whether `before` has the same stored tensor under the node's id.
bool sameStored(const Graph& before, const Node& node)
{
    const Node* found = before.tryGet(node.id);
    return found && found->isStored() && found->tensor == node.tensor;
}

std::unordered_map<ValueRef, Key> keysOf(const Graph& form, const PreparedModel& prepared)
{
    std::optional<std::unordered_map<ValueRef, Key>> preparedKeys; // few forms need them
    return ValueKeyBuilder(
               form,
               [&](const Graph& holder, const Node& node) {
                   const bool inside = &holder != &form;
                   if (!inside && sameStored(*prepared.model, node))
                       return KeyBuilder("own")
                           .add(form.info().sha256)
                           .add(node.name)
                           .add(node.tensorSha256)
                           .key();
                   if (!inside && sameStored(*prepared.graph, node)) {
                       if (!preparedKeys)
                           preparedKeys = keysOf(prepared);
                       return preparedKeys->at({node.id, 0});
                   }
                   return contentKey(holder, node);
               },
               [](KeyBuilder&, const Node&) {})
        .run();
}

} // namespace

ValueKeys::ValueKeys(const PreparedModel& prepared)
    : m_keys(keysOf(prepared))
{
}

ValueKeys::ValueKeys(const Graph& form, const PreparedModel& prepared)
    : m_keys(keysOf(form, prepared))
{
}

std::unordered_map<ObserverId, Key> observedKeys(const PreparedModel& prepared)
{
    const ValueKeys keys(prepared);
    std::unordered_map<ObserverId, std::vector<Key>> seen;
    for (const NodePtr& node : prepared.graph->nodes())
        if (passesOn(*node))
            seen[node->observer].push_back(keys.of({node->id, 0}));
    std::unordered_map<ObserverId, Key> found;
    for (const PlannedObserver& observer : prepared.plan->observers) {
        KeyBuilder key("observed");
        const auto weight = prepared.observedWeight.find(observer.id);
        if (!observer.interior.empty()) {
            key.add(observer.interior).add(std::int64_t(observer.id.value()));
            if (prepared.graph->tryGet(observer.weightOwner))
                key.add(keys.of({observer.weightOwner, 0}));
        } else if (weight != prepared.observedWeight.end()) {
            key.add("weight").add(keys.of(weight->second));
        } else {
            for (const Key& value : seen[observer.id])
                key.add(value);
        }
        found[observer.id] = key.key();
    }
    return found;
}

} // namespace qs
