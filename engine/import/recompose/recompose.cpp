// SPDX-License-Identifier: Apache-2.0
#include "engine/import/recompose/recompose.h"

#include "engine/graph/readers.h"
#include "engine/import/recompose/decomposed_calls.h"

#include <algorithm>
#include <set>

namespace qs {

namespace {

std::string functionOf(const std::string& call)
{
    const auto tail = call.rfind('_');
    const bool numbered = tail != std::string::npos && tail + 1 < call.size()
        && std::all_of(call.begin() + std::ptrdiff_t(tail) + 1, call.end(),
                       [](unsigned char c) { return std::isdigit(c); });
    return numbered ? call.substr(0, tail) : call;
}

class Recomposer
{
public:
    explicit Recomposer(GraphEdit& edit)
        : m_edit(edit)
    {
    }

    std::set<NodeId> run(const FunctionCalls& calls)
    {
        std::set<NodeId> untrained;
        for (DecomposedCall& call : gather(calls)) {
            inspect(call);
            auto whole = wholeCall(m_edit, call);
            if (!whole)
                continue;
            if (whole->untrained)
                untrained.insert(whole->untrained->node);
            replace(call, std::move(*whole));
        }
        return untrained;
    }

private:
    std::vector<DecomposedCall> gather(const FunctionCalls& calls) const
    {
        std::vector<DecomposedCall> found;
        std::unordered_map<std::string, std::size_t> places;
        for (const NodeId id : m_edit.order()) {
            const auto it = calls.find(id);
            if (it == calls.end())
                continue;
            const std::string function = functionOf(it->second);
            if (!isDecomposed(function))
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

    /// True for a tensor. Sizes are not results: they follow from the tensors, and other calls may
    /// read those that a call computes.
    bool isTensor(ValueRef ref) const
    {
        return m_edit.get(ref.node).outputs.at(ref.index).type.kind == ValueKind::Tensor;
    }

    void inspect(DecomposedCall& call) const
    {
        const std::set<NodeId> inside(call.nodes.begin(), call.nodes.end());
        std::set<ValueRef> seen;
        for (const NodeId id : call.nodes) {
            const Node& node = m_edit.get(id);
            for (const NamedArgument& argument : node.args)
                forEachRef(argument.value, [&](ValueRef ref) {
                    if (isTensor(ref) && !inside.contains(ref.node) && seen.insert(ref).second)
                        call.reads.push_back(ref);
                });
            for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
                for (const Use& use : m_edit.users({id, i}))
                    if (isTensor({id, i}) && !inside.contains(use.node)
                        && (call.gives.empty() || call.gives.back() != ValueRef {id, i}))
                        call.gives.push_back({id, i});
        }
    }

    void replace(const DecomposedCall& call, WholeCall made)
    {
        const ValueRef given = call.gives[0];
        Node whole = m_edit.get(given.node);
        whole.id = {};
        whole.name = call.function;
        whole.target = std::move(made.target);
        whole.args = std::move(made.args);
        whole.argumentStrings.clear();
        whole.outputs = {{call.function, whole.outputs.at(given.index).type}};
        const NodeId one = m_edit.insert(std::move(whole), call.nodes.back());
        m_edit.replaceUses(given, {one, 0});
        for (auto it = call.nodes.rbegin(); it != call.nodes.rend(); ++it)
            if (hasReaders(m_edit, *it))
                putBefore(*it);
            else
                m_edit.erase(*it);
    }

    /// Gives an operand of the call, which is not a part of it, the scope of that operand's input.
    void putBefore(NodeId id)
    {
        const auto& args = m_edit.get(id).args;
        const ValueRef* read = args.empty() ? nullptr : args[0].value.asRef();
        if (!read || !isTensor({id, 0}))
            return;
        m_edit.change(id).scope = m_edit.get(read->node).scope;
        m_edit.change(id).torchFn.clear();
    }

    GraphEdit& m_edit;
};

} // namespace

std::set<NodeId> recompose(GraphEdit& edit, const FunctionCalls& calls)
{
    return Recomposer(edit).run(calls);
}

} // namespace qs
