// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/classes/join_objects.h"

#include "engine/configure/extension_packs.h"
#include "engine/execute/op_table.h"
#include "engine/extensions/classes/class_nodes.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/graph_verifier.h"
#include "engine/graph/map_refs.h"
#include "engine/graph/operators/class_parts.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

class ObjectJoiner
{
public:
    explicit ObjectJoiner(const Graph& graph)
        : m_graph(graph)
        , m_edit(graph)
    {
    }

    Result<Graph> run()
    {
        for (const NodePtr& node : m_graph.nodes()) {
            m_edit.setArgs(node->id, mapRefs(node->args, [&](ValueRef ref) { return now(ref); }));
            if (node->kind == NodeKind::Op && isPartsTarget(node->target))
                QS_CHECK(join(*node));
            else if (node->kind == NodeKind::Op)
                forwardOwn(node->id);
        }
        for (auto id = m_spare.rbegin(); id != m_spare.rend(); ++id)
            if (m_edit.users({*id, 0}).empty())
                m_edit.erase(*id);
        return m_edit.build();
    }

private:
    ValueRef now(ValueRef ref) const
    {
        const auto found = m_now.find(ref);
        return found == m_now.end() ? ref : found->second;
    }

    Result<void> join(const Node& node)
    {
        std::vector<NamedArgument> args;
        for (std::size_t i = 0; i < node.args.size(); ++i) {
            const NamedArgument& argument = m_edit.get(node.id).args[i];
            const bool hasRest = i + 1 < node.args.size()
                && node.args[i + 1].name == argument.name + std::string(kRestSuffix);
            const ValueRef* field = argument.value.asRef();
            if (!hasRest || !field) {
                args.push_back(argument);
                continue;
            }
            const ValueRef rest = *m_edit.get(node.id).args[++i].value.asRef();
            QS_TRY(const ValueRef object, whole(*field, rest, node));
            args.push_back({argument.name, object});
        }
        m_edit.setArgs(node.id, std::move(args));
        return joinOutputs(node);
    }

    Result<void> joinOutputs(const Node& node)
    {
        const auto op = findOperator(wholeTarget(node.target));
        const std::size_t returned = op ? op->schema().returns().size() : node.outputs.size();
        std::vector<Value> outputs;
        std::size_t next = 0;
        for (std::size_t i = 0; i < returned && next < node.outputs.size(); ++i, ++next) {
            const bool isObject
                = op->schema().returns()[i].type()->kind() == c10::TypeKind::ClassType
                && node.outputs[next].type.kind == ValueKind::Tensor;
            const ValueRef field {node.id, std::uint32_t(next)};
            if (isObject)
                ++next;
            const ValueRef object {node.id, std::uint32_t(outputs.size())};
            outputs.push_back(node.outputs[next]);
            m_now[{node.id, std::uint32_t(next)}] = object;
            if (!isObject)
                continue;
            outputs.back().name = node.outputs[field.index].name;
            QS_TRY(const PackClassSpec spec, classOf(outputs.back().type, node));
            Node get = getFieldNode(spec, object, node.scope, node.outputs[field.index].type);
            get.origin = node.origin;
            const NodeId id = m_edit.insertAfter(std::move(get), node.id);
            m_spare.push_back(id);
            m_now[field] = {id, 0};
            m_fieldOf[{id, 0}] = object;
        }
        Node& changed = m_edit.change(node.id);
        changed.target = wholeTarget(node.target);
        changed.outputs = std::move(outputs);
        return {};
    }

    /// Removes a node that replaces an object's field by the same field: its result is the object.
    void forwardOwn(NodeId id)
    {
        const Node& node = m_edit.get(id);
        const ValueRef* rest = node.args.size() == 2 ? node.args[0].value.asRef() : nullptr;
        const ValueRef* field = rest ? node.args[1].value.asRef() : nullptr;
        const auto own = field ? m_fieldOf.find(*field) : m_fieldOf.end();
        if (own == m_fieldOf.end() || own->second != *rest)
            return;
        const auto spec
            = adaptedClass(m_edit.get(rest->node).outputs.at(rest->index).type.className);
        if (!spec || !callsAny(node, spec->replace))
            return;
        m_now[{id, 0}] = *rest;
        m_spare.push_back(id);
    }

    /// Returns a loaded pack's entry for the class of an object that the node returns or reads.
    static Result<PackClassSpec> classOf(const ValueType& object, const Node& node)
    {
        if (auto spec = adaptedClass(object.className))
            return std::move(*spec);
        return fail(makeError(ErrorCode::Unsupported,
                              "no loaded pack knows the class " + plainClassName(object.className))
                        .atNode(node.name));
    }

    /// Returns the whole object; without a new node if the field is the object's own.
    Result<ValueRef> whole(ValueRef field, ValueRef rest, const Node& reader)
    {
        if (const auto own = m_fieldOf.find(field); own != m_fieldOf.end() && own->second == rest)
            return rest;
        const ValueType type = m_edit.get(rest.node).outputs.at(rest.index).type;
        QS_TRY(const PackClassSpec spec, classOf(type, reader));
        const Node& maker = m_edit.get(field.node);
        if (callsAny(maker, {spec.get.front()}) && maker.args[0].value.asRef()
            && *maker.args[0].value.asRef() == rest)
            return rest;
        const std::pair key(field, rest);
        if (const auto made = m_wholes.find(key); made != m_wholes.end())
            return made->second;
        Node node = replaceFieldNode(spec, rest, field, reader.scope, type);
        node.origin = reader.origin;
        const ValueRef made {m_edit.insert(std::move(node), reader.id), 0};
        m_wholes[key] = made;
        return made;
    }

    const Graph& m_graph;
    GraphEdit m_edit;
    std::unordered_map<ValueRef, ValueRef> m_now; ///< new value by old value
    std::unordered_map<ValueRef, ValueRef> m_fieldOf; ///< source object of each field
    std::map<std::pair<ValueRef, ValueRef>, ValueRef> m_wholes; ///< whole objects by field and rest
    std::vector<NodeId> m_spare; ///< removed if they have no consumers
};

} // namespace

Result<GraphPtr> joinObjects(GraphPtr graph)
{
    const auto nodes = graph->nodes();
    if (std::none_of(nodes.begin(), nodes.end(),
                     [](const NodePtr& node) { return isPartsTarget(node->target); }))
        return graph;
    QS_TRY(Graph joined, ObjectJoiner(*graph).run());
    auto made = std::make_shared<const Graph>(std::move(joined));
    QS_CHECK(verifyGraph(*made));
    return made;
}

} // namespace qs
