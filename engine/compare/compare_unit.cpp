// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/compare_unit.h"

#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/quantized_target.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

std::vector<ValueRef> refsOf(const Argument* argument)
{
    std::vector<ValueRef> refs;
    if (argument)
        forEachRef(*argument, [&](ValueRef ref) { refs.push_back(ref); });
    return refs;
}

/// The argument of `twin` that corresponds to the member's argument at `position`. Looks at the
/// position first, because arguments of higher-order operators have no names.
const Argument* twinArgument(const Node& member, std::size_t position, const Node* twin)
{
    const std::string& name = member.args[position].name;
    if (!twin)
        return nullptr;
    if (position < twin->args.size() && twin->args[position].name == name)
        return &twin->args[position].value;
    return twin->tryArg(name);
}

class UnitBuilder
{
public:
    explicit UnitBuilder(const ConvertedModel& converted)
        : m_converted(converted)
        , m_float(*converted.prepared->model)
        , m_reference(*converted.reference)
    {
        findConstants();
        for (const auto& observer : converted.prepared->plan->observers)
            for (const auto& edge : observer.edges)
                if (!observer.isWeight)
                    m_observed.insert(edge.value);
        for (const MatchGroup& group : converted.prepared->plan->groups)
            if (group.quantized)
                m_quantized.insert(group.members.begin(), group.members.end());
        for (const NodePtr& node : m_reference.nodes())
            if (node->kind == NodeKind::Op && node->origin)
                m_ofOrigin.emplace(node->origin, node.get());
    }

    std::optional<CompareUnit> build(std::vector<NodeId> members, bool quantized) const
    {
        CompareUnit unit;
        unit.last = members.back();
        unit.quantized = quantized;
        unit.members = std::move(members);
        const Node& last = m_float.get(unit.last);
        for (std::uint32_t i = 0; i < last.outputs.size(); ++i) {
            const ValueRef value {last.id, i};
            const auto reference = tryRead(value);
            if (last.outputs[i].type.mayBeFloat() && reference)
                unit.outputs.push_back({value, quantized ? *reference : rawOf(value, *reference)});
        }
        if (unit.outputs.empty())
            return std::nullopt;
        addInputs(unit);
        unit.isOpen = m_converted.referenceEdits && isOpen(unit);
        unit.unchanged = !quantized && !unit.isOpen && isUnchanged(unit);
        return unit;
    }

    /// The value that readers in the reference graph read for a float value. Empty if fusion
    /// removed it, even if the node still runs (a convolution that returns its batch norm's value).
    std::optional<ValueRef> tryRead(ValueRef value) const
    {
        const auto it = m_converted.referenceValueOf.find(value);
        return it != m_converted.referenceValueOf.end() ? std::optional(it->second) : std::nullopt;
    }

private:
    void findConstants()
    {
        for (const NodePtr& node : m_float.nodes()) {
            bool constant = node->isStored();
            if (node->kind == NodeKind::Op && node->opaqueReason.empty() && !node->args.empty()) {
                bool any = false, all = true;
                for (const auto& argument : node->args)
                    forEachRef(argument.value, [&](ValueRef ref) {
                        any = true;
                        all = all && m_constants.contains(ref.node);
                    });
                constant = any && all;
            }
            if (constant)
                m_constants.insert(node->id);
        }
    }

    ValueRef rawOf(ValueRef value, ValueRef fallback) const
    {
        const auto it = m_converted.rawValueOf.find(value);
        return it != m_converted.rawValueOf.end() ? it->second : fallback;
    }

    /// The reference graph's node that computes the member.
    const Node* counterpart(const Node& member) const
    {
        const Node* same = m_reference.tryGet(member.id);
        if (same && (same->target == member.target || same->isOp(kModuleTarget)))
            return same;
        const auto range = m_ofOrigin.equal_range(member.id);
        for (auto it = range.first; it != range.second; ++it)
            if (it->second->target == member.target)
                return it->second;
        return nullptr;
    }

    void addInputs(CompareUnit& unit) const
    {
        const std::unordered_set<NodeId> inside(unit.members.begin(), unit.members.end());
        for (const NodeId id : unit.members) {
            const Node& member = m_float.get(id);
            const Node* twin = counterpart(member);
            for (std::size_t a = 0; a < member.args.size(); ++a) {
                const auto refs = refsOf(&member.args[a].value);
                const auto twinRefs = refsOf(twinArgument(member, a, twin));
                for (std::size_t i = 0; i < refs.size(); ++i)
                    if (!inside.contains(refs[i].node))
                        addInput(unit, refs[i],
                                 twinRefs.size() == refs.size() ? &twinRefs[i] : nullptr);
            }
        }
    }

    void addInput(CompareUnit& unit, ValueRef value, const ValueRef* twin) const
    {
        // Weights are part of the function; an observed parameter is an ordinary input.
        if (m_constants.contains(value.node) && !m_observed.contains(value))
            return;
        const auto known
            = std::any_of(unit.inputs.begin(), unit.inputs.end(),
                          [&](const UnitInput& input) { return input.value == value; });
        const auto read = twin ? std::optional(*twin) : tryRead(value);
        if (!known && read)
            unit.inputs.push_back({value, cameIn(value, *read), *read, rawOf(value, *read)});
    }

    /// Follows a read value back to the value at which its producing unit is measured. Steps
    /// between them are the reader's quantizer, whose loss counts for the reader. Inputs and
    /// parameters belong to no unit and are taken as they are read.
    ValueRef cameIn(ValueRef value, ValueRef read) const
    {
        const bool isMade = m_float.get(value.node).isOperator();
        const ValueRef raw = rawOf(value, read);
        const ValueRef made = m_quantized.contains(value.node) ? tryRead(value).value_or(raw) : raw;
        ValueRef at = read;
        while (isMade && at != made && at != raw) {
            const Node& step = m_reference.get(at.node);
            const ValueRef* from = step.args.empty() ? nullptr : step.args[0].value.asRef();
            if (!from || !(isReferenceStep(step.target) || step.isOp(kCastTarget)))
                return read;
            at = *from;
        }
        return at;
    }

    /// Whether `test` is true for a node between the values in `seen` and the unit's results.
    template<class Test>
    bool anyBefore(const CompareUnit& unit, std::unordered_set<ValueRef> seen,
                   const Test& test) const
    {
        std::vector<ValueRef> open;
        for (const UnitOutput& output : unit.outputs)
            open.push_back(output.reference);
        while (!open.empty()) {
            const ValueRef value = open.back();
            open.pop_back();
            if (!seen.insert(value).second)
                continue;
            const Node& node = m_reference.get(value.node);
            if (test(node))
                return true;
            for (const auto& argument : node.args)
                forEachRef(argument.value, [&](ValueRef ref) { open.push_back(ref); });
        }
        return false;
    }

    /// Whether nothing is quantized between the unit's inputs and results. Folded weights count as
    /// unchanged, although their last bits may differ.
    bool isUnchanged(const CompareUnit& unit) const
    {
        std::unordered_set<ValueRef> given;
        for (const UnitInput& input : unit.inputs)
            given.insert(input.came);
        return !anyBefore(unit, std::move(given),
                          [](const Node& node) { return isReferenceStep(node.target); });
    }

    /// Whether an edit of the form makes the unit's results depend on more than the unit's inputs.
    bool isOpen(const CompareUnit& unit) const
    {
        std::unordered_set<ValueRef> read;
        for (const UnitInput& input : unit.inputs)
            read.insert(unit.quantized ? input.raw : input.came);
        return anyBefore(unit, std::move(read),
                         [](const Node& node) { return node.kind == NodeKind::Input; });
    }

    const ConvertedModel& m_converted;
    const Graph& m_float;
    const Graph& m_reference;
    std::unordered_set<NodeId> m_constants;
    std::unordered_set<ValueRef> m_observed;
    std::unordered_set<NodeId> m_quantized; ///< members of quantized groups
    std::unordered_multimap<NodeId, const Node*> m_ofOrigin;
};

/// Whether a group is a single function in the reference graph: it is quantized, or fusion removed
/// its inner values (a convolution with a folded batch norm).
bool isOneUnit(const MatchGroup& group, const UnitBuilder& builder)
{
    return group.quantized
        || (group.fused && std::any_of(group.members.begin(), group.members.end(), [&](NodeId id) {
                return !builder.tryRead({id, 0});
            }));
}

} // namespace

std::vector<CompareUnit> compareUnits(const ConvertedModel& converted)
{
    const Graph& graph = *converted.prepared->model;
    const UnitBuilder builder(converted);
    std::vector<CompareUnit> units;
    std::unordered_set<NodeId> grouped;
    const auto add = [&](std::vector<NodeId> members, bool quantized) {
        if (auto unit = builder.build(std::move(members), quantized))
            units.push_back(std::move(*unit));
    };
    for (const MatchGroup& group : converted.prepared->plan->groups) {
        if (group.members.empty() || !isOneUnit(group, builder))
            continue;
        grouped.insert(group.members.begin(), group.members.end());
        add(group.members, group.quantized);
    }
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator() && !grouped.contains(node->id))
            add({node->id}, false);
    std::sort(units.begin(), units.end(), [&](const CompareUnit& a, const CompareUnit& b) {
        return graph.position(a.last) < graph.position(b.last);
    });
    return units;
}

} // namespace qs
