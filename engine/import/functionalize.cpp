// SPDX-License-Identifier: Apache-2.0
#include "engine/import/functionalize.h"

#include "engine/execute/op_table.h"
#include "engine/graph/graph_edit.h"
#include "engine/import/alias_analysis.h"
#include "engine/import/mutation_regions.h"

#include <functional>
#include <optional>
#include <unordered_map>

namespace qs {

namespace {

/// "aten.relu.default" for "aten.relu_.default", "aten.__and__.Tensor" for "aten.__iand__.Tensor".
std::string functionalName(const std::string& target)
{
    const auto last = target.rfind('.');
    const auto first = target.find('.');
    if (last == std::string::npos || first == last)
        return {};
    std::string name = target.substr(first + 1, last - first - 1);
    if (name.starts_with("__i") && name.ends_with("__"))
        name = "__" + name.substr(3);
    else if (name.ends_with('_') && !name.ends_with("__"))
        name.pop_back();
    else
        return {};
    return target.substr(0, first + 1) + name + target.substr(last);
}

/// The functional operator that takes the same arguments and returns what the in-place one leaves
/// behind.
std::optional<std::string> functionalTwin(const Node& node)
{
    const std::string name = functionalName(node.target);
    const auto ours = findOperator(node.target);
    const auto twin = name.empty() ? std::nullopt : findOperator(name);
    if (!ours || !twin || mutatesArguments(twin->schema()) || node.outputs.size() != 1
        || twin->schema().returns().size() != 1)
        return std::nullopt;
    const auto& a = ours->schema().arguments();
    const auto& b = twin->schema().arguments();
    if (a.size() > b.size())
        return std::nullopt;
    for (std::size_t i = 0; i < b.size(); ++i) {
        if (i >= a.size() && !b[i].default_value())
            return std::nullopt;
        if (i < a.size() && *a[i].type() != *b[i].type())
            return std::nullopt;
    }
    return name;
}

/// The arguments under the names the twin has for them: `dropout_` says `self`, `dropout` `input`.
std::vector<NamedArgument> renamed(std::vector<NamedArgument> args, const std::string& target,
                                   const std::string& twin)
{
    const auto& ours = findOperator(target)->schema();
    const auto& theirs = findOperator(twin)->schema();
    for (auto& arg : args)
        if (const auto index = ours.argumentIndexWithName(arg.name))
            arg.name = theirs.arguments()[std::size_t(*index)].name();
    return args;
}

/// The in-place form keeps the element type of its first argument, arithmetic might widen it.
bool mayChangeDType(const Graph& graph, const Node& node, ValueRef self)
{
    const DType own = graph.value(self).type.dtype;
    bool changes = false;
    for (const auto& arg : node.args) {
        forEachRef(arg.value, [&](ValueRef ref) {
            const ValueType& type = graph.value(ref).type;
            if (type.kind == ValueKind::Tensor && isFloating(type.dtype) && type.dtype != own)
                changes = true;
        });
        if (arg.value.asDouble() && !isFloating(own) && own != DType::Unknown)
            changes = true;
    }
    return changes;
}

Argument rewritten(const Argument& argument, const std::function<ValueRef(ValueRef)>& newer)
{
    if (const auto* ref = argument.asRef())
        return newer(*ref);
    const auto* items = argument.asList();
    if (!items)
        return argument;
    Argument::List out;
    for (const auto& item : *items)
        out.push_back(rewritten(item, newer));
    return out;
}

/// Walks the nodes in order and keeps, for every object that was changed in place, the value that
/// now stands for it.
class Functionalizer
{
public:
    explicit Functionalizer(const Graph& graph)
        : m_graph(graph)
        , m_aliases(graph)
        , m_edit(graph)
    {
    }

    Result<Graph> run()
    {
        for (const auto& node : m_graph.nodes()) {
            readNewest(*node);
            const auto written = writtenArguments(*node);
            if (written.empty())
                continue;
            const ValueRef* target = node->args[written[0]].value.asRef();
            const auto twin = functionalTwin(*node);
            if (written.size() == 1 && written[0] == 0 && target && twin
                && !(writesValues(*node) && hasLiveAlias(*node, *target)))
                replace(*node, *twin, *target);
        }
        return m_edit.build();
    }

private:
    /// An in-place operator returns the very object it changed.
    ValueRef object(ValueRef ref) const
    {
        const auto it = m_objects.find(ref);
        return it == m_objects.end() ? ref : it->second;
    }

    void readNewest(const Node& node)
    {
        bool changed = false;
        const auto newest = [&](ValueRef ref) {
            const auto it = m_current.find(object(ref));
            if (it == m_current.end() || it->second == ref)
                return ref;
            changed = true;
            return it->second;
        };
        std::vector<NamedArgument> args;
        for (const auto& arg : node.args)
            args.push_back({arg.name, rewritten(arg.value, newest)});
        if (changed)
            m_edit.setArgs(node.id, std::move(args));
    }

    /// Whether another object that may share memory with `target` is read later.
    bool hasLiveAlias(const Node& node, ValueRef target) const
    {
        const std::size_t here = m_graph.position(node.id);
        for (const ValueRef& member : m_aliases.members(target)) {
            if (object(member) == object(target) || m_graph.position(member.node) >= here)
                continue;
            for (const Use& use : m_graph.users(member))
                if (m_graph.position(use.node) > here)
                    return true;
        }
        return false;
    }

    void replace(const Node& node, const std::string& twin, ValueRef target)
    {
        m_edit.setArgs(node.id, renamed(m_edit.get(node.id).args, node.target, twin));
        Node& changed = m_edit.change(node.id);
        changed.originalTarget = node.target;
        changed.target = twin;
        ValueRef made {node.id, 0};
        m_objects[made] = object(target);
        if (mayChangeDType(m_graph, node, target)) {
            Node cast;
            cast.name = node.name + "_as";
            cast.target = "aten.to.dtype";
            cast.outputs.push_back({"", node.outputs[0].type});
            cast.scope = node.scope;
            cast.source = node.source;
            cast.args = {{"self", made}, {"dtype", m_graph.value(target).type.dtype}};
            made = {m_edit.insertAfter(std::move(cast), node.id), 0};
        }
        m_current[object(target)] = made;
    }

    const Graph& m_graph;
    const AliasSets m_aliases;
    GraphEdit m_edit;
    std::unordered_map<ValueRef, ValueRef> m_objects; ///< results that are their own operand
    std::unordered_map<ValueRef, ValueRef> m_current; ///< by object: its newest value
};

} // namespace

Result<Graph> functionalize(const Graph& graph)
{
    if (!hasWrites(graph))
        return graph;
    QS_TRY(const Graph functional, Functionalizer(graph).run());
    return foldMutationRegions(functional);
}

} // namespace qs
