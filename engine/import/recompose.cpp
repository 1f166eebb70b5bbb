// SPDX-License-Identifier: Apache-2.0
#include "engine/import/recompose.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

namespace qs {

namespace {

/// The operators of one call, in order, and what goes in and out.
struct Call
{
    std::string function; ///< "hardswish" for "hardswish_1"
    std::vector<NodeId> nodes;
    std::vector<ValueRef> reads; ///< made outside, in order of first use
    std::vector<ValueRef> gives; ///< read outside
};

std::string functionOf(const std::string& call)
{
    const auto tail = call.rfind('_');
    const bool numbered = tail != std::string::npos && tail + 1 < call.size()
        && std::all_of(call.begin() + std::ptrdiff_t(tail) + 1, call.end(),
                       [](unsigned char c) { return std::isdigit(c); });
    return numbered ? call.substr(0, tail) : call;
}

bool isStored(const Node& node)
{
    return node.kind == NodeKind::Parameter || node.kind == NodeKind::Constant;
}

const Node* find(const GraphEdit& edit, const Call& call, std::string_view target)
{
    for (const NodeId id : call.nodes)
        if (edit.get(id).target == target)
            return &edit.get(id);
    return nullptr;
}

class Recomposer
{
public:
    explicit Recomposer(GraphEdit& edit)
        : m_edit(edit)
    {
    }

    void run(const FunctionCalls& calls)
    {
        for (Call& call : gather(calls)) {
            look(call);
            if (call.nodes.size() < 2 || call.gives.size() != 1)
                continue;
            std::optional<std::vector<NamedArgument>> args = call.function == "stack"
                ? stacked(call)
                : call.function == "linear" ? linear(call)
                                            : unary(call);
            if (args)
                replace(call, std::move(*args));
        }
    }

private:
    std::vector<Call> gather(const FunctionCalls& calls) const
    {
        static constexpr std::array<std::string_view, 4> kFunctions {"hardswish", "hardsigmoid",
                                                                     "stack", "linear"};
        std::vector<Call> found;
        std::unordered_map<std::string, std::size_t> places;
        for (const NodeId id : m_edit.order()) {
            const auto it = calls.find(id);
            if (it == calls.end())
                continue;
            const std::string function = functionOf(it->second);
            if (std::find(kFunctions.begin(), kFunctions.end(), function) == kFunctions.end())
                continue;
            const std::string key = it->second + " " + m_edit.get(id).scope.path + " "
                + std::to_string(m_edit.get(id).scope.callIndex);
            const auto [place, isNew] = places.emplace(key, found.size());
            if (isNew)
                found.push_back({function, {}, {}, {}});
            found[place->second].nodes.push_back(id);
        }
        return found;
    }

    void look(Call& call) const
    {
        const std::set<NodeId> inside(call.nodes.begin(), call.nodes.end());
        std::set<ValueRef> seen;
        for (const NodeId id : call.nodes) {
            const Node& node = m_edit.get(id);
            for (const NamedArgument& argument : node.args)
                forEachRef(argument.value, [&](ValueRef ref) {
                    const bool tensor = m_edit.get(ref.node).outputs.at(ref.index).type.kind
                        == ValueKind::Tensor; // sizes follow from the tensors
                    if (tensor && !inside.contains(ref.node) && seen.insert(ref).second)
                        call.reads.push_back(ref);
                });
            for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
                for (const Use& use : m_edit.users({id, i}))
                    if (!inside.contains(use.node)
                        && (call.gives.empty() || call.gives.back() != ValueRef {id, i}))
                        call.gives.push_back({id, i});
        }
    }

    std::optional<std::vector<NamedArgument>> unary(const Call& call) const
    {
        const bool clamps = find(m_edit, call, "aten.clamp.default")
            || find(m_edit, call, "aten.clamp_min.default")
            || find(m_edit, call, "aten.hardtanh.default");
        if (call.reads.size() != 1 || !clamps)
            return std::nullopt;
        return std::vector<NamedArgument> {{"self", call.reads[0]}};
    }

    /// unsqueeze of each part, then cat over the new dimension.
    std::optional<std::vector<NamedArgument>> stacked(const Call& call) const
    {
        const Node& cat = m_edit.get(call.nodes.back());
        const auto* parts = cat.target == "aten.cat.default" && !cat.args.empty()
            ? cat.args[0].value.asList()
            : nullptr;
        if (!parts || parts->size() + 1 != call.nodes.size())
            return std::nullopt;
        const Argument* over = cat.tryArg("dim");
        const std::int64_t dim = over && over->asInt() ? *over->asInt() : 0;
        Argument::List tensors;
        for (const Argument& part : *parts) {
            const auto* ref = part.asRef();
            const Node* wide = ref ? m_edit.tryGet(ref->node) : nullptr;
            const Argument* at = wide ? wide->tryArg("dim") : nullptr;
            if (!at || wide->target != "aten.unsqueeze.default" || !at->asInt()
                || *at->asInt() != dim)
                return std::nullopt;
            tensors.push_back(wide->args[0].value);
        }
        return std::vector<NamedArgument> {{"tensors", std::move(tensors)}, {"dim", dim}};
    }

    /// expand, view, bmm, view and the bias added; a matrix alone (addmm, mm) stays as it is.
    std::optional<std::vector<NamedArgument>> linear(const Call& call) const
    {
        const Node* turned = find(m_edit, call, "aten.permute.default");
        if (!find(m_edit, call, "aten.bmm.default") || !turned)
            return std::nullopt;
        const auto* weight = turned->args.at(0).value.asRef();
        const Node* sum = find(m_edit, call, "aten.add.Tensor");
        std::optional<ValueRef> bias, input;
        for (const ValueRef& ref : call.reads) {
            if (weight && ref == *weight)
                continue;
            const bool added
                = sum && std::any_of(sum->args.begin(), sum->args.end(), [&](const auto& a) {
                      return a.value.asRef() && *a.value.asRef() == ref;
                  });
            std::optional<ValueRef>& slot = added ? bias : input;
            if (slot)
                return std::nullopt;
            slot = ref;
        }
        const bool whole
            = weight && isStored(m_edit.get(weight->node)) && input && bool(sum) == bool(bias);
        if (!whole)
            return std::nullopt;
        std::vector<NamedArgument> args {{"input", *input}, {"weight", *weight}};
        if (bias)
            args.push_back({"bias", *bias});
        return args;
    }

    void replace(const Call& call, std::vector<NamedArgument> args)
    {
        const ValueRef given = call.gives[0];
        Node whole = m_edit.get(given.node);
        whole.id = {};
        whole.name = call.function;
        whole.target = "aten." + call.function + ".default";
        whole.args = std::move(args);
        whole.argumentStrings.clear();
        whole.outputs = {{call.function, whole.outputs.at(given.index).type}};
        const NodeId made = m_edit.insert(std::move(whole), call.nodes.back());
        m_edit.replaceUses(given, {made, 0});
        for (auto it = call.nodes.rbegin(); it != call.nodes.rend(); ++it)
            m_edit.erase(*it);
    }

    GraphEdit& m_edit;
};

} // namespace

void recompose(GraphEdit& edit, const FunctionCalls& calls)
{
    Recomposer(edit).run(calls);
}

} // namespace qs
