// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/graph_edit.h"

#include "engine/graph/operators/effects.h"
#include "engine/graph/operators/state.h"
#include "engine/graph/readers.h"

#include <algorithm>
#include <cassert>

namespace qs {

namespace {

void retarget(Argument& argument, ValueRef from, ValueRef to)
{
    if (auto* ref = std::get_if<ValueRef>(&argument.value)) {
        if (*ref == from)
            *ref = to;
    } else if (auto* list = std::get_if<Argument::List>(&argument.value)) {
        for (auto& item : *list)
            retarget(item, from, to);
    }
}

} // namespace

GraphEdit::GraphEdit()
    : m_modules(std::make_shared<ModuleTree>())
    , m_info(std::make_shared<ModelInfo>())
{
    m_modules->add("", "");
}

GraphEdit::GraphEdit(const Graph& graph)
    : m_modules(std::const_pointer_cast<ModuleTree>(graph.parts().modules))
    , m_modulesShared(true)
    , m_tensors(graph.tensors())
    , m_info(graph.parts().info)
    , m_nextId(graph.parts().nextId)
{
    m_nodes.reserve(graph.nodes().size());
    for (const auto& node : graph.nodes()) {
        m_where[node->id] = m_order.insert(m_order.end(), node->id);
        m_nodes[node->id] = {node, false};
        m_names.insert(node->name);
        for (const auto& value : node->outputs)
            m_names.insert(value.name);
        link(*node);
    }
}

void GraphEdit::link(const Node& node)
{
    for (const auto& arg : node.args)
        forEachRef(arg.value, [&](ValueRef ref) { m_readers[ref].push_back(node.id); });
}

void GraphEdit::unlink(const Node& node)
{
    for (const auto& arg : node.args)
        forEachRef(arg.value, [&](ValueRef ref) {
            auto& readers = m_readers[ref];
            readers.erase(std::remove(readers.begin(), readers.end(), node.id), readers.end());
        });
}

std::string GraphEdit::uniqueName(const std::string& wanted)
{
    std::string base = wanted.empty() ? "node" : wanted;
    if (m_names.insert(base).second)
        return base;
    int& next = m_suffix[base];
    for (;;) {
        std::string candidate = base + "_" + std::to_string(++next);
        if (m_names.insert(candidate).second)
            return candidate;
    }
}

NodeId GraphEdit::place(Node node, Order::iterator where)
{
    if (!node.id || contains(node.id))
        node.id = NodeId(m_nextId);
    m_nextId = std::max(m_nextId, node.id.value() + 1);
    const std::string wanted = node.name;
    node.name = uniqueName(wanted);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        auto& value = node.outputs[i];
        if (value.name.empty() || value.name == wanted)
            value.name = i == 0 ? node.name : uniqueName(node.name + "_" + std::to_string(i));
        else
            value.name = uniqueName(value.name);
    }
    const NodeId id = node.id;
    link(node);
    m_where[id] = m_order.insert(where, id);
    m_nodes[id] = {std::make_shared<Node>(std::move(node)), true};
    return id;
}

NodeId GraphEdit::insert(Node node, NodeId before)
{
    auto where = m_order.end();
    if (before)
        where = m_where.at(before);
    else if (node.kind != NodeKind::Output && !m_order.empty()
             && get(m_order.back()).kind == NodeKind::Output)
        where = std::prev(m_order.end());
    return place(std::move(node), where);
}

NodeId GraphEdit::insertAfter(Node node, NodeId after)
{
    return place(std::move(node), std::next(m_where.at(after)));
}

Node& GraphEdit::change(NodeId id)
{
    Slot& slot = m_nodes.at(id);
    if (!slot.own)
        slot = {std::make_shared<Node>(*slot.node), true};
    return const_cast<Node&>(*slot.node); // not shared: build() returns copies
}

void GraphEdit::setArgs(NodeId id, std::vector<NamedArgument> args)
{
    Node& node = change(id);
    unlink(node);
    node.args = std::move(args);
    link(node);
}

const Node& GraphEdit::get(NodeId id) const
{
    return *m_nodes.at(id).node;
}

const Node* GraphEdit::tryGet(NodeId id) const
{
    const auto it = m_nodes.find(id);
    return it == m_nodes.end() ? nullptr : it->second.node.get();
}

void GraphEdit::replaceUses(ValueRef from, ValueRef to, const std::unordered_set<NodeId>& except)
{
    for (const Use& use : users(from))
        if (!except.contains(use.node))
            replaceArgument(use.node, use.argument, from, to);
}

void GraphEdit::replaceArgument(NodeId user, std::size_t argument, ValueRef from, ValueRef to)
{
    Node& node = change(user);
    unlink(node);
    retarget(node.args.at(argument).value, from, to);
    link(node);
}

void GraphEdit::erase(NodeId id)
{
    const Node& node = get(id);
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
        assert(users({id, i}).empty());
    unlink(node);
    m_names.erase(node.name);
    for (const auto& value : node.outputs)
        m_names.erase(value.name);
    m_order.erase(m_where.at(id));
    m_where.erase(id);
    m_nodes.erase(id);
}

void GraphEdit::moveBefore(NodeId id, NodeId before)
{
    m_order.splice(m_where.at(before), m_order, m_where.at(id));
}

void GraphEdit::rename(NodeId id, const std::string& name)
{
    Node& node = change(id);
    const std::string old = node.name;
    if (old == name)
        return;
    m_names.erase(old);
    node.name = uniqueName(name);
    for (auto& value : node.outputs)
        if (value.name == old)
            value.name = node.name;
}

std::vector<Use> GraphEdit::users(ValueRef ref) const
{
    std::vector<Use> found;
    const auto it = m_readers.find(ref);
    if (it == m_readers.end())
        return found;
    std::unordered_set<NodeId> seen;
    for (NodeId reader : it->second) {
        if (!seen.insert(reader).second)
            continue;
        const Node& node = get(reader);
        for (std::uint32_t a = 0; a < node.args.size(); ++a) {
            bool reads = false;
            forEachRef(node.args[a].value, [&](ValueRef r) { reads = reads || r == ref; });
            if (reads)
                found.push_back({reader, a});
        }
    }
    return found;
}

std::vector<NodeId> GraphEdit::order() const
{
    return {m_order.begin(), m_order.end()};
}

void GraphEdit::eraseDead()
{
    std::unordered_set<std::string> holders;
    for (const NodeId id : m_order)
        if (isStateUpdate(get(id)))
            holders.insert(*get(id).args[0].value.asString());
    for (auto it = m_order.end(); it != m_order.begin();) {
        --it;
        const Node& node = get(*it);
        if (node.kind == NodeKind::Input || node.kind == NodeKind::Output || hasEffect(node)
            || holders.contains(node.name))
            continue;
        if (hasReaders(*this, node.id))
            continue;
        const auto next = std::next(it);
        erase(node.id);
        it = next;
    }
}

ModuleTree& GraphEdit::modules()
{
    if (m_modulesShared) {
        m_modules = std::make_shared<ModuleTree>(*m_modules);
        m_modulesShared = false;
    }
    return *m_modules;
}

void GraphEdit::setInfo(ModelInfo info)
{
    m_info = std::make_shared<const ModelInfo>(std::move(info));
}

void GraphEdit::setTensors(std::shared_ptr<StoredTensors> tensors)
{
    m_tensors = std::move(tensors);
}

Graph GraphEdit::build() const
{
    Graph::Parts parts;
    parts.nodes.reserve(m_order.size());
    for (NodeId id : m_order) {
        const Slot& slot = m_nodes.at(id);
        parts.nodes.push_back(slot.own ? std::make_shared<Node>(*slot.node) : slot.node);
    }
    parts.modules = std::make_shared<ModuleTree>(*m_modules);
    parts.tensors = m_tensors;
    parts.info = m_info;
    parts.nextId = m_nextId;
    return Graph(std::move(parts));
}

} // namespace qs
