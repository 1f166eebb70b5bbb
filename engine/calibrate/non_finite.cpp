// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/non_finite.h"

#include "engine/base/text.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/plan/overrides/not_finite_values.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <unordered_map>

namespace qs {

bool mayBeNonFinite(const at::IValue& value)
{
    if (!value.isTensor())
        return false;
    const at::Tensor& tensor = value.toTensor();
    return tensor.defined() && tensor.is_floating_point() && tensor.numel() > 0;
}

bool holdsNonFinite(const at::IValue& value)
{
    return mayBeNonFinite(value) && !at::isfinite(value.toTensor()).all().item<bool>();
}

namespace {

/// True if all non-finite elements are -Inf.
bool isMasked(const at::IValue& input)
{
    if (!mayBeNonFinite(input))
        return false;
    const at::Tensor& tensor = input.toTensor();
    return tensor.isfinite().logical_or_(tensor.isneginf()).all().item<bool>();
}

} // namespace

Result<void> checkObservedInputs(const Graph& prepared, const Batch& batch)
{
    const auto inputs = prepared.inputs();
    for (std::size_t i = 0; i < batch.notFinite.size() && i < inputs.size(); ++i) {
        const auto users = prepared.users({inputs[i]->id, 0});
        const bool isObserved = std::any_of(users.begin(), users.end(), [&](const Use& use) {
            return prepared.get(use.node).isOp(kObserveTarget);
        });
        if (isObserved && batch.notFinite[i] && !isMasked(batch.inputs[i]))
            return fail(*batch.notFinite[i]);
    }
    return {};
}

namespace {

/// Non-finite values of one run: "NaN", "Inf" or "-Inf", by value.
using Kinds = std::unordered_map<ValueRef, std::string>;

std::string kindOf(const at::Tensor& tensor)
{
    if (tensor.isnan().any().item<bool>())
        return "NaN";
    return tensor.isposinf().any().item<bool>() ? "Inf" : "-Inf";
}

class NonFiniteTrace
{
public:
    NonFiniteTrace(const PreparedModel& prepared, Kinds kinds)
        : m_graph(*prepared.graph)
        , m_model(*prepared.model)
        , m_plan(*prepared.plan)
        , m_kinds(std::move(kinds))
    {
    }

    Error error(DeviceObservationQueue::Place place) const
    {
        const Node& reached = m_graph.get(place.node);
        const bool isOutput = reached.kind == NodeKind::Output;
        const ValueRef bad = isOutput ? behind(firstBad(reached)) : behind({place.node, 0});
        if (!bad) // not reproduced, for example by a random operator
            return makeError(ErrorCode::Numeric, appears("NaN or Inf", place)).atNode(reached.name);
        const Node& maker = m_graph.get(bad.node);
        const Node& origin = m_graph.get(originOf(bad).node);
        const auto kind = m_kinds.find(isOutput ? bad : ValueRef {place.node, 0});
        std::string text = appears(kind == m_kinds.end() ? "NaN or Inf" : kind->second, place);
        if (isOutput)
            text += maker.id == origin.id
                ? " in an output of the model"
                : " and reaches an output of the model, " + describedNode(maker);
        else
            text += (maker.id == origin.id ? " in " : " and reaches ") + describedNode(maker)
                + ", whose value is to be quantized" + readersText(reached);
        return makeError(ErrorCode::Numeric, text)
            .atNode(origin.name)
            .withHint(hint(reached, origin));
    }

    /// Returns nullopt at an output, and inside a module that is quantized inside.
    std::optional<NonFiniteValue> value(DeviceObservationQueue::Place place) const
    {
        const Node& reached = m_graph.get(place.node);
        const PlannedObserver* plan = isObserver(reached) ? planned(reached) : nullptr;
        const Node* maker = m_model.tryGet(reached.origin);
        if (!plan || !plan->interior.empty() || plan->isWeight || !maker)
            return std::nullopt;
        const ValueRef bad = behind({place.node, 0});
        const Node& origin = m_graph.get(originOf(bad).node);
        const auto kind = m_kinds.find({place.node, 0});
        return NonFiniteValue {maker->name,
                               (kind == m_kinds.end() ? "NaN or Inf" : kind->second) + " in batch "
                                   + std::to_string(place.batch)
                                   + (origin.id == m_graph.get(bad.node).id
                                          ? ""
                                          : ", first in " + describedNode(origin))};
    }

private:
    static bool isObserver(const Node& node) { return node.isOp(kObserveTarget); }

    static std::string appears(const std::string& kind, DeviceObservationQueue::Place place)
    {
        return kind + " appears in batch " + std::to_string(place.batch);
    }

    /// Returns the first non-finite argument of the node.
    ValueRef firstBad(const Node& node) const
    {
        ValueRef found;
        for (const auto& argument : node.args)
            forEachRef(argument.value, [&](ValueRef ref) {
                if (!found && m_kinds.contains(ref))
                    found = ref;
            });
        return found;
    }

    /// Returns the value that a chain of observers and stubs passes on.
    ValueRef behind(ValueRef value) const
    {
        while (
            value
            && (isObserver(m_graph.get(value.node)) || m_graph.get(value.node).isOp(kStubTarget)))
            value = *m_graph.get(value.node).args.at(0).value.asRef();
        return value;
    }

    ValueRef originOf(ValueRef value) const
    {
        while (const ValueRef before = behind(firstBad(m_graph.get(value.node))))
            value = before;
        return value;
    }

    const PlannedObserver* planned(const Node& observer) const
    {
        const auto found
            = std::find_if(m_plan.observers.begin(), m_plan.observers.end(),
                           [&](const PlannedObserver& one) { return one.id == observer.observer; });
        return found == m_plan.observers.end() ? nullptr : &*found;
    }

    const MatchGroup* quantizedGroup(NodeId node) const
    {
        const NodePlan* plan = m_plan.tryGet(m_model, node);
        const MatchGroup* group
            = plan && plan->group >= 0 ? &m_plan.groups[std::size_t(plan->group)] : nullptr;
        return group && group->quantized ? group : nullptr;
    }

    /// Returns the uses for which this observer exists.
    std::vector<Use> readers(const Node& observer) const
    {
        std::vector<Use> out;
        const PlannedObserver* plan = planned(observer);
        for (const ObservedEdge& edge : plan ? plan->edges : std::vector<ObservedEdge>()) {
            if (edge.value.node != observer.origin)
                continue;
            const auto uses = edge.readers.empty() ? m_model.users(edge.value)
                                                   : std::span<const Use>(edge.readers);
            for (const Use& use : uses)
                if (quantizedGroup(use.node))
                    out.push_back(use);
        }
        return out;
    }

    std::string readersText(const Node& observer) const
    {
        const auto uses = readers(observer);
        if (uses.empty())
            return {};
        const Node& reader = m_model.get(uses.front().node);
        return ": " + describedNode(reader) + " reads it as "
            + inQuotes(reader.args.at(uses.front().argument).name)
            + (uses.size() > 1 ? ", and so do " + std::to_string(uses.size() - 1) + " more" : "");
    }

    /// Returns a hint: the operators that must be kept float so that the value is not observed.
    std::string hint(const Node& reached, const Node& origin) const
    {
        std::vector<std::string> names;
        const auto add = [&](const MatchGroup* group) {
            const std::string name = group ? m_model.get(group->root).name : std::string();
            if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
                names.push_back(name);
        };
        if (isObserver(reached)) {
            if (const Node* producer = m_model.tryGet(reached.origin))
                add(quantizedGroup(producer->id));
            for (const Use& use : readers(reached))
                add(quantizedGroup(use.node));
        }
        std::string data = "look at the data of that batch"
            + (origin.isOperator() ? " and at " + origin.target : std::string());
        if (names.empty())
            return data;
        std::string rules;
        for (const std::string& name : names)
            rules += (rules.empty() ? "[\"" : ", [\"") + name + "\", null]";
        return "keep " + quotedNames(names) + " float: \"node\": [" + rules
            + "] under \"mapping\" in the recipe; or " + data;
    }

    const Graph& m_graph;
    const Graph& m_model;
    const Plan& m_plan;
    Kinds m_kinds;
};

} // namespace

NonFinite findNonFinite(const PreparedModel& prepared, const Interpreter& interpreter,
                        const Batch& batch, const std::vector<at::IValue>& inputs,
                        const std::vector<DeviceObservationQueue::Place>& places, ModelState state)
{
    Kinds kinds;
    const NodeId last = places.back().node;
    const Tap tap = [&](ValueRef ref, const Node&, const at::IValue& value) -> Result<void> {
        if (holdsNonFinite(value))
            kinds[ref] = kindOf(value.toTensor());
        if (ref.node == last)
            return fail(ErrorCode::Numeric, "reached");
        return {};
    };
    static_cast<void>(interpreter.run(inputs, tap, {}, &state));
    const NonFiniteTrace trace(prepared, std::move(kinds));
    NonFinite found {trace.error(places.front()), {}};
    for (const auto& data : batch.notFinite)
        if (data)
            found.error.hint += " (" + data->message + ")";
    for (const DeviceObservationQueue::Place place : places)
        if (auto value = trace.value(place))
            found.values.push_back(std::move(*value));
    return found;
}

} // namespace qs
