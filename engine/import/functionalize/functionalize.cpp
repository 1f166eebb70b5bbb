// SPDX-License-Identifier: Apache-2.0
#include "engine/import/functionalize/functionalize.h"

#include "engine/execute/op_table.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/map_refs.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/operator_name.h"
#include "engine/import/functionalize/alias_analysis.h"
#include "engine/import/functionalize/erase_unread.h"
#include "engine/import/functionalize/mutation_regions.h"
#include "engine/import/functionalize/view_updates.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace qs {

namespace {

/// "aten.relu.default" for "aten.relu_.default", "aten.__and__.Tensor" for "aten.__iand__.Tensor".
std::string functionalName(const std::string& target)
{
    const OperatorParts parts = operatorParts(target);
    std::string name(parts.base());
    if (name.starts_with("__i") && name.ends_with("__"))
        name.erase(2, 1);
    else if (!parts.isInPlace())
        return {};
    return std::string(parts.space) + "." + name + "." + std::string(parts.overload);
}

/// The functional operator that takes the same arguments and returns the value that the in-place
/// one writes.
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
    if (own == DType::Unknown)
        return false;
    bool changes = false;
    for (const auto& arg : node.args) {
        forEachRef(arg.value, [&](ValueRef ref) {
            const ValueType& type = graph.value(ref).type;
            if (type.kind == ValueKind::Tensor && isFloating(type.dtype) && type.dtype != own)
                changes = true;
        });
        if (arg.value.asDouble() && !isFloating(own))
            changes = true;
    }
    return changes;
}

/// Walks the nodes in order and keeps, for every object that was changed in place, its current
/// value.
class Functionalizer
{
public:
    explicit Functionalizer(const Graph& graph)
        : m_graph(graph)
        , m_aliases(graph, 0)
        , m_edit(graph)
    {
    }

    Result<Graph> run(const JobContext& job)
    {
        for (std::size_t i = 0; i < m_graph.nodes().size(); ++i) {
            QS_CHECK(job.check());
            const auto& node = m_graph.nodes()[i];
            m_aliases.advance(i);
            readNewest(*node);
            const auto written = writtenArguments(*node);
            if (written.empty())
                continue;
            const ValueRef* target = node->args[written[0]].value.asRef();
            const auto twin = functionalTwin(*node);
            if (written.size() != 1 || written[0] != 0 || !target || !twin)
                continue;
            const bool writes = writesValues(*node);
            const auto seen = writes ? seenThrough(*target) : std::vector {object(*target)};
            if (writes && hasLiveAlias(*node, seen))
                continue;
            m_aliases.advance(i + 1); // the result is one more name of the changed object
            replace(*node, *twin, seen);
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

    ValueRef newest(ValueRef ref) const
    {
        const auto it = m_current.find(object(ref));
        return it == m_current.end() ? ref : it->second;
    }

    void readNewest(const Node& node)
    {
        bool changed = false;
        const auto read = [&](ValueRef ref) {
            changed = changed || newest(ref) != ref;
            return newest(ref);
        };
        std::vector<NamedArgument> args = mapRefs(node.args, read);
        if (changed)
            m_edit.setArgs(node.id, std::move(args));
    }

    /// The object that is changed, then what it is a slice of, up to a whole tensor that the graph
    /// makes; the object alone where it is a part of what comes from outside.
    std::vector<ValueRef> seenThrough(ValueRef target) const
    {
        std::vector<ValueRef> seen {object(target)};
        while (const ValueRef* whole = slicedFrom(m_graph, seen.back()))
            seen.push_back(object(*whole));
        if (m_graph.get(seen.back().node).kind != NodeKind::Op)
            seen.resize(1);
        return seen;
    }

    bool isReadAfter(ValueRef ref, std::size_t here) const
    {
        const auto users = m_graph.users(ref);
        return std::any_of(users.begin(), users.end(),
                           [&](const Use& use) { return m_graph.position(use.node) > here; });
    }

    /// Whether another object that may share memory with those in `seen` is read later.
    bool hasLiveAlias(const Node& node, const std::vector<ValueRef>& seen) const
    {
        const std::size_t here = m_graph.position(node.id);
        const auto& members = m_aliases.members(seen[0]);
        return std::any_of(members.begin(), members.end(), [&](ValueRef member) {
            return std::find(seen.begin(), seen.end(), object(member)) == seen.end()
                && isReadAfter(member, here);
        });
    }

    /// Whether an object, itself or as the result of an operator that changes it, is read later.
    bool isObjectReadAfter(ValueRef wanted, const Node& node) const
    {
        const auto& members = m_aliases.members(wanted);
        return std::any_of(members.begin(), members.end(), [&](ValueRef member) {
            return object(member) == wanted && isReadAfter(member, m_graph.position(node.id));
        });
    }

    void replace(const Node& node, const std::string& twin, const std::vector<ValueRef>& seen)
    {
        m_edit.setArgs(node.id, renamed(m_edit.get(node.id).args, node.target, twin));
        Node& changed = m_edit.change(node.id);
        changed.originalTarget = node.target;
        changed.target = twin;
        ValueRef made {node.id, 0};
        m_objects[made] = seen[0];
        m_last = node.id;
        if (mayChangeDType(m_graph, node, seen[0])) {
            Node cast;
            cast.name = node.name + "_as";
            cast.target = kCastTarget;
            cast.outputs.push_back({"", node.outputs[0].type});
            cast.args = {{"self", made}, {"dtype", m_graph.value(seen[0]).type.dtype}};
            made = append(std::move(cast), node);
        }
        m_current[seen[0]] = made;
        updateWholes(node, seen);
    }

    /// Writes the new part into the whole that the object is a slice of; slices read the new whole.
    void updateWholes(const Node& node, const std::vector<ValueRef>& seen)
    {
        for (std::size_t i = 1; i < seen.size(); ++i) {
            const ValueRef whole = seen[i];
            m_current[whole]
                = append(scattered(m_edit.get(seen[i - 1].node), newest(whole),
                                   m_graph.value(whole).type, m_current.at(seen[i - 1])),
                         node);
        }
        const auto innermost = std::find_if(seen.begin(), seen.end() - 1, [&](ValueRef part) {
            return isObjectReadAfter(part, node);
        });
        for (auto part = seen.end() - 1; part != innermost;) {
            --part;
            Node view = m_edit.get(part->node);
            view.id = {};
            view.args[0].value = m_current.at(part[1]);
            m_current[*part] = append(std::move(view), node);
        }
    }

    /// Inserts a node after those made for `origin` so far, as a part of its call.
    ValueRef append(Node made, const Node& origin)
    {
        made.scope = origin.scope;
        made.source = origin.source;
        made.torchFn = origin.torchFn;
        m_last = m_edit.insertAfter(std::move(made), m_last);
        return {m_last, 0};
    }

    const Graph& m_graph;
    AliasSets m_aliases; ///< state before the current node; after it while it is replaced
    GraphEdit m_edit;
    std::unordered_map<ValueRef, ValueRef> m_objects; ///< results that are their own operand
    std::unordered_map<ValueRef, ValueRef> m_current; ///< by object: its newest value
    NodeId m_last; ///< of the nodes that replace the current one
};

} // namespace

Result<Graph> functionalize(const Graph& graph, const JobContext& job)
{
    if (!hasWrites(graph))
        return graph;
    QS_TRY(const Graph functional, Functionalizer(graph).run(job));
    QS_CHECK(job.check());
    QS_TRY(const Graph folded, foldMutationRegions(functional));
    QS_CHECK(job.check());
    GraphEdit edit(folded);
    eraseUnread(edit); // unread operators wrote to their arguments until here
    return edit.build();
}

} // namespace qs
