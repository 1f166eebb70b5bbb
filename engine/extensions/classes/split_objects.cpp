// SPDX-License-Identifier: Apache-2.0
#include "engine/extensions/classes/split_objects.h"

#include "engine/configure/extension_packs.h"
#include "engine/execute/op_table.h"
#include "engine/extensions/classes/class_nodes.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/graph_verifier.h"
#include "engine/graph/map_refs.h"
#include "engine/graph/operators/class_parts.h"

#include <algorithm>

namespace qs {

namespace {

class ObjectSplitter
{
public:
    explicit ObjectSplitter(const Graph& graph)
        : m_graph(graph)
        , m_edit(graph)
    {
    }

    Graph run()
    {
        for (const NodePtr& node : m_graph.nodes())
            visit(*node);
        for (auto id = m_spare.rbegin(); id != m_spare.rend(); ++id)
            if (m_edit.users({*id, 0}).empty())
                m_edit.erase(*id);
        return m_edit.build();
    }

private:
    struct Parts
    {
        ValueRef field, rest;
        bool isWhole = false; ///< the rest contains this field in every form of the model
        PackClassSpec spec;
    };

    void visit(const Node& node)
    {
        const auto parts = node.kind == NodeKind::Op && node.opaqueReason.empty()
                && node.subgraphs.empty() && touchesObjects(node)
            ? findOperator(partsTarget(node.target))
            : std::nullopt;
        const ValueRef* first = node.args.empty() ? nullptr : node.args[0].value.asRef();
        const Parts* object = first ? find(*first) : nullptr;
        if (object && callsAny(node, object->spec.get))
            return forward(node.id, *object);
        if (object && node.args.size() == 2 && callsAny(node, object->spec.replace))
            return replace(node, *object);
        if (parts)
            return byParts(node, parts->schema());
        m_edit.setArgs(node.id, mapRefs(node.args, [&](ValueRef ref) {
                           return find(ref) ? whole(ref, node) : moved(ref);
                       }));
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
            if (const auto spec = classOf(node.outputs[i]))
                takeApart(node, i, *spec);
    }

    static std::optional<PackClassSpec> classOf(const Value& value)
    {
        return value.type.kind == ValueKind::Custom ? adaptedClass(value.type.className)
                                                    : std::nullopt;
    }

    bool touchesObjects(const Node& node) const
    {
        bool touches = std::any_of(node.outputs.begin(), node.outputs.end(),
                                   [](const Value& value) { return bool(classOf(value)); });
        for (const NamedArgument& argument : node.args)
            forEachRef(argument.value, [&](ValueRef ref) { touches = touches || find(ref); });
        return touches;
    }

    const Parts* find(ValueRef ref) const
    {
        const auto found = m_parts.find(ref);
        return found == m_parts.end() ? nullptr : &found->second;
    }
    ValueRef moved(ValueRef ref) const
    {
        const auto found = m_moved.find(ref);
        return found == m_moved.end() ? ref : found->second;
    }

    /// Replaces the result of a node that gets the field by the existing field.
    void forward(NodeId id, const Parts& object)
    {
        m_moved[{id, 0}] = object.field;
        m_edit.setArgs(id, {});
        m_spare.push_back(id);
    }

    /// Keeps a node that replaces the field for consumers of whole objects.
    void replace(const Node& node, const Parts& object)
    {
        const ValueRef* field = node.args[1].value.asRef();
        Parts made {field ? moved(*field) : object.field, object.rest, false, object.spec};
        m_edit.setArgs(node.id,
                       {{node.args[0].name, object.rest}, {node.args[1].name, made.field}});
        m_wholes[{node.id, 0}] = {node.id, 0};
        m_spare.push_back(node.id);
        m_parts.emplace(ValueRef {node.id, 0}, std::move(made));
    }

    void byParts(const Node& node, const c10::FunctionSchema& schema)
    {
        std::vector<NamedArgument> args;
        for (const NamedArgument& argument : node.args) {
            const ValueRef* ref = argument.value.asRef();
            const std::string rest = argument.name + std::string(kRestSuffix);
            const Parts* object = ref ? find(*ref) : nullptr;
            if (object && schema.argumentIndexWithName(rest)) {
                args.push_back({argument.name, object->field});
                args.push_back({rest, object->rest});
                continue;
            }
            args.push_back({argument.name, mapRefs(argument.value, [&](ValueRef inner) {
                                return find(inner) ? whole(inner, node) : moved(inner);
                            })});
        }
        std::vector<Value> outputs;
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
            const auto next = std::uint32_t(outputs.size());
            const auto spec = classOf(node.outputs[i]);
            const bool isSplit = spec && next < schema.returns().size()
                && schema.returns()[next].type()->kind() == c10::TypeKind::TensorType;
            if (isSplit) {
                m_parts[{node.id, i}] = {{node.id, next}, {node.id, next + 1}, false, *spec};
                outputs.push_back({node.outputs[i].name, ValueType()});
            } else {
                m_moved[{node.id, i}] = {node.id, next};
            }
            outputs.push_back(node.outputs[i]);
            if (isSplit)
                outputs.back().name += kRestSuffix;
        }
        m_edit.setArgs(node.id, std::move(args));
        Node& changed = m_edit.change(node.id);
        changed.target = partsTarget(node.target);
        changed.outputs = std::move(outputs);
    }

    /// Returns an object as one value, for a consumer without an overload on parts.
    ValueRef whole(ValueRef ref, const Node& reader)
    {
        const Parts& parts = *find(ref);
        if (parts.isWhole)
            return parts.rest;
        if (const auto made = m_wholes.find(ref); made != m_wholes.end())
            return made->second;
        const ValueType type = m_edit.get(parts.rest.node).outputs[parts.rest.index].type;
        const ValueRef made {
            m_edit.insert(replaceFieldNode(parts.spec, parts.rest, parts.field, reader.scope, type),
                          reader.id),
            0};
        m_wholes[ref] = made;
        return made;
    }

    /// Splits a whole object: adds a node that gets its field.
    void takeApart(const Node& maker, std::uint32_t output, const PackClassSpec& spec)
    {
        Node node = getFieldNode(spec, {maker.id, output}, maker.scope);
        const NodeId id = maker.isOperator() ? m_edit.insertAfter(std::move(node), maker.id)
                                             : m_edit.insert(std::move(node), firstOperator());
        m_spare.push_back(id);
        m_parts[{maker.id, output}] = {{id, 0}, {maker.id, output}, true, spec};
    }

    NodeId firstOperator() const
    {
        const auto nodes = m_graph.nodes();
        const auto first = std::find_if(nodes.begin(), nodes.end(), [](const NodePtr& node) {
            return node->isOperator() || node->kind == NodeKind::Output;
        });
        return (*first)->id;
    }

    const Graph& m_graph;
    GraphEdit m_edit;
    std::unordered_map<ValueRef, Parts> m_parts; ///< parts of each object, by its old value
    std::unordered_map<ValueRef, ValueRef> m_moved; ///< new value of other values
    std::unordered_map<ValueRef, ValueRef> m_wholes; ///< rebuilt objects
    std::vector<NodeId> m_spare; ///< removed if they have no consumers
};

} // namespace

Result<GraphPtr> splitObjects(GraphPtr graph)
{
    const auto packs = loadedPacks();
    const auto nodes = graph->nodes();
    const auto isAdapted = [](const Value& value) {
        return value.type.kind == ValueKind::Custom && adaptedClass(value.type.className);
    };
    const bool any = std::any_of(packs.begin(), packs.end(),
                                 [](const auto& pack) { return !pack->classes.empty(); })
        && std::any_of(nodes.begin(), nodes.end(), [&](const NodePtr& node) {
                         return std::any_of(node->outputs.begin(), node->outputs.end(), isAdapted);
                     });
    if (!any)
        return graph;
    auto split = std::make_shared<const Graph>(ObjectSplitter(*graph).run());
    QS_CHECK(verifyGraph(*split));
    return split;
}

} // namespace qs
