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

/// Returns the functional operator that takes the same arguments and returns the value that the
/// in-place operator writes.
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

/// Returns the arguments with the names of the functional variant: `dropout_` has `self`, `dropout`
/// `input`.
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

/// True if the functional form might change the element type: arithmetic may promote it, while the
/// in-place form keeps that of its first argument.
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

/// Processes nodes in order and tracks the current value of every object changed in place.
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
            m_aliases.advance(i + 1); // the result is another name of the changed object
            replace(*node, *twin, seen);
        }
        return m_edit.build();
    }

private:
    /// Returns the object of a value: for the result of an in-place operator, the object that it
    /// changed.
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

    /// Returns the changed object, then its bases in turn up to a whole tensor that the graph
    /// computes. Returns only the object if it is a view of an outer value.
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

    /// True if another object that may alias those in `seen` is read later.
    bool hasLiveAlias(const Node& node, const std::vector<ValueRef>& seen) const
    {
        const std::size_t here = m_graph.position(node.id);
        const auto& members = m_aliases.members(seen[0]);
        return std::any_of(members.begin(), members.end(), [&](ValueRef member) {
            return std::find(seen.begin(), seen.end(), object(member)) == seen.end()
                && isReadAfter(member, here);
        });
    }

    /// True if an object is read later, directly or as the result of an operator that changes it.
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

    /// Scatters the new value into each base of the object; other slices then read the new base.
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
    /// Maps results of in-place operators to the changed object.
    std::unordered_map<ValueRef, ValueRef> m_objects;
    std::unordered_map<ValueRef, ValueRef> m_current; ///< newest value of each object
    NodeId m_last; ///< last node that replaces the current one
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
    eraseUnread(edit); // before functionalization, operators without consumers may have written to
                       // their arguments
    return edit.build();
}

} // namespace qs
