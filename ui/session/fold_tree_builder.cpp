// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/text.h"
#include "ui/session/fold_tree.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

/// Returns a key that differs for each call of a module: "layer1.0.relu@1".
std::string scopeKey(const Scope& scope)
{
    return scope.callIndex > 0 && !scope.path.empty()
        ? scope.path + "@" + std::to_string(scope.callIndex)
        : scope.path;
}

std::string withoutCall(const std::string& key)
{
    return key.substr(0, key.find('@'));
}

std::string methodPath(const WrappedScope& wrap)
{
    return (wrap.path.empty() ? "" : wrap.path + ".") + wrap.function + "()";
}

/// Returns the path without the wrapped method: "head.fc" for "head.post_process().fc".
std::string withoutMethod(const std::string& path)
{
    const auto end = path.rfind("().");
    if (end == std::string::npos)
        return path;
    const auto dot = path.rfind('.', end);
    return (dot == std::string::npos ? "" : path.substr(0, dot + 1)) + path.substr(end + 3);
}

/// Returns the operators that read only parameters and constants: they belong to their readers.
std::unordered_set<NodeId> constantNodes(const Graph& graph)
{
    std::unordered_set<NodeId> out;
    for (const auto& node : graph.nodes()) {
        if (node->isStored()) {
            out.insert(node->id);
            continue;
        }
        if (node->kind != NodeKind::Op)
            continue;
        bool any = false, all = true;
        for (const auto& arg : node->args)
            forEachRef(arg.value, [&](ValueRef ref) {
                any = true;
                all = all && out.count(ref.node) > 0;
            });
        if (any && all)
            out.insert(node->id);
    }
    return out;
}

} // namespace

/// Builds the tree in four steps: units, containers, dissolving, order.
class FoldTreeBuilder
{
public:
    FoldTreeBuilder(const Graph& graph, const Plan* plan, const std::vector<WrappedScope>& wraps)
        : m_graph(graph)
        , m_plan(plan)
        , m_tree(std::make_shared<FoldTree>())
    {
        for (const WrappedScope& wrap : wraps) {
            const std::string path = wrap.function.empty() ? wrap.path : methodPath(wrap);
            m_wraps[path] = wrap.key;
            for (const auto* nodes : {&wrap.glue, &wrap.inner})
                for (const NodeId node : *nodes)
                    if (!wrap.function.empty())
                        m_methodOf[node] = &wrap;
        }
    }

    FoldTreePtr build()
    {
        FoldEntry root;
        root.kind = FoldEntry::Kind::Module;
        root.className = lastPart(m_graph.modules().root().moduleClass);
        root.label = root.className.empty() ? m_graph.info().name : root.className;
        if (root.label.empty())
            root.label = QObject::tr("model").toStdString();
        root.className.clear();
        m_tree->m_entries.push_back(root);
        m_containers[""] = 0;
        addUnits();
        for (std::size_t i = 0; i < m_homes.size(); ++i)
            attach(int(i) + 1, container(m_homes[i].key));
        count(0);
        dissolve(0);
        dropDissolved();
        count(0);
        sortChildren(0);
        listNodes(0);
        for (const auto& [key, entry] : m_containers)
            if (entry >= 0)
                m_tree->m_byPath.emplace(withoutMethod(withoutCall(key)), entry);
        for (const auto& [path, entry] : m_dissolved)
            m_tree->m_byPath[path] = entry;
        labelUnits();
        entries().shrink_to_fit(); // the tree is complete
        return m_tree;
    }

private:
    std::vector<FoldEntry>& entries() { return m_tree->m_entries; }

    void addUnits()
    {
        const auto constant = constantNodes(m_graph);
        std::unordered_map<int, int> unitOfGroup;
        std::size_t position = 0;
        for (const auto& node : m_graph.nodes()) {
            const std::size_t order = position++;
            if (constant.count(node->id))
                continue;
            const NodePlan* decided = m_plan ? m_plan->tryGet(m_graph, node->id) : nullptr;
            const int group = decided && isJoined(decided->group) ? decided->group : -1;
            if (group >= 0 && unitOfGroup.count(group)) {
                join(unitOfGroup[group], *node);
                continue;
            }
            const int unit = addUnit(*node, order);
            if (group >= 0)
                unitOfGroup[group] = unit;
        }
    }

    bool isJoined(int group) const
    {
        if (group < 0)
            return false;
        const auto& g = m_plan->groups[std::size_t(group)];
        return g.members.size() > 1 && (g.fused || g.quantized);
    }

    int addUnit(const Node& node, std::size_t order)
    {
        FoldEntry unit;
        unit.kind = node.kind == NodeKind::Input ? FoldEntry::Kind::Input
            : node.kind == NodeKind::Output      ? FoldEntry::Kind::Output
                                                 : FoldEntry::Kind::Unit;
        unit.units = unit.kind == FoldEntry::Kind::Unit;
        unit.order = order;
        const int index = int(entries().size());
        entries().push_back(std::move(unit));
        const bool atRoot = node.kind == NodeKind::Input || node.kind == NodeKind::Output;
        m_homes.push_back({atRoot ? std::string() : homeOf(node), {node.id}});
        setUnit(node.id, index);
        return index;
    }

    void join(int unit, const Node& node)
    {
        setUnit(node.id, unit);
        Home& home = m_homes[std::size_t(unit) - 1];
        home.members.push_back(node.id);
        home.key = commonPath(home.key, homeOf(node));
    }

    void setUnit(NodeId node, int unit)
    {
        auto& units = m_tree->m_unitOf;
        if (node.value() >= units.size())
            units.resize(node.value() + 1, -1);
        units[node.value()] = unit;
    }

    /// Sets each entry's range in the flat list of nodes.
    void listNodes(int index)
    {
        auto& nodes = m_tree->m_nodes;
        if (index == FoldTree::kRoot) { // reserve: spans of units point into the list
            std::size_t size = 0;
            for (const Home& home : m_homes)
                size += home.members.size();
            nodes.reserve(size);
        }
        FoldEntry& entry = entries()[std::size_t(index)];
        entry.firstNode = std::uint32_t(nodes.size());
        if (!entry.isModule()) {
            const auto& members = m_homes[std::size_t(index) - 1].members;
            nodes.insert(nodes.end(), members.begin(), members.end());
            entry.members = std::span(nodes).subspan(entry.firstNode);
        }
        for (int child : entry.children)
            listNodes(child);
        entry.lastNode = std::uint32_t(nodes.size());
    }

    /// Returns the key of the node's innermost module; a wrapped method adds one step.
    std::string homeOf(const Node& node) const
    {
        std::string key = scopeKey(node.scope);
        const auto found = m_methodOf.find(node.id);
        if (found == m_methodOf.end())
            return key;
        const std::string& path = found->second->path;
        const std::string rest = key.size() > path.size() ? key.substr(path.size()) : std::string();
        const bool deeper = rest.starts_with('.') || (path.empty() && !rest.empty());
        return methodPath(*found->second) + (deeper && path.empty() ? "." : "") + rest;
    }

    int container(const std::string& key)
    {
        const auto known = m_containers.find(key);
        if (known != m_containers.end())
            return known->second;
        const auto dot = key.rfind('.');
        const int parent = container(dot == std::string::npos ? "" : key.substr(0, dot));
        FoldEntry entry;
        entry.kind = FoldEntry::Kind::Module;
        entry.path = withoutMethod(withoutCall(key));
        entry.label = lastPart(entry.path);
        if (const auto wrap = m_wraps.find(entry.path); wrap != m_wraps.end())
            entry.wrap = wrap->second;
        if (const auto* module = m_graph.modules().tryGet(entry.path))
            entry.className = lastPart(module->moduleClass);
        const int index = int(entries().size());
        entries().push_back(std::move(entry));
        m_containers[key] = index;
        attach(index, parent);
        return index;
    }

    void attach(int child, int parent)
    {
        entries()[std::size_t(child)].parent = parent;
        entries()[std::size_t(parent)].children.push_back(child);
    }

    std::size_t count(int index)
    {
        auto& entry = entries()[std::size_t(index)];
        if (!entry.isModule())
            return entry.order;
        entry.units = 0;
        entry.order = std::size_t(-1);
        for (int child : entries()[std::size_t(index)].children) {
            const auto first = count(child);
            auto& self = entries()[std::size_t(index)];
            self.order = std::min(self.order, first);
            self.units += entries()[std::size_t(child)].units;
        }
        return entries()[std::size_t(index)].order;
    }

    /// Replaces a module that holds a single unit by that unit, which takes its name.
    void dissolve(int index)
    {
        for (int& child : entries()[std::size_t(index)].children) {
            if (!entries()[std::size_t(child)].isModule())
                continue;
            if (entries()[std::size_t(child)].units > 1) {
                dissolve(child);
                continue;
            }
            int unit = child;
            const std::size_t firstDissolved = m_dissolved.size();
            while (entries()[std::size_t(unit)].isModule()) {
                m_dissolved.emplace_back(entries()[std::size_t(unit)].path, -1);
                unit = entries()[std::size_t(unit)].children.front();
            }
            for (std::size_t i = firstDissolved; i < m_dissolved.size(); ++i)
                m_dissolved[i].second = unit;
            auto& entry = entries()[std::size_t(unit)];
            const auto& module = entries()[std::size_t(child)];
            entry.label = isNumber(module.label) && !module.className.empty()
                ? module.label + " " + module.className
                : module.label;
            entry.className = module.className;
            entry.path = module.path;
            entry.wrap = module.wrap;
            entry.parent = index;
            entries()[std::size_t(child)].parent = -1;
            child = unit;
        }
    }

    void mark(int index, std::vector<int>& marks) const
    {
        marks[std::size_t(index)] = 1;
        for (const int child : m_tree->m_entries[std::size_t(index)].children)
            mark(child, marks);
    }

    /// Removes the entries of dissolved modules. Units come before all modules and keep their
    /// indices.
    void dropDissolved()
    {
        std::vector<int> now(entries().size(), -1);
        mark(FoldTree::kRoot, now);
        int next = 0;
        for (std::size_t i = 0; i < now.size(); ++i) {
            if (now[i] < 0)
                continue;
            if (std::size_t(next) != i)
                entries()[std::size_t(next)] = std::move(entries()[i]);
            now[i] = next++;
        }
        entries().resize(std::size_t(next));
        const auto follow
            = [&now](int& index) { index = index < 0 ? -1 : now[std::size_t(index)]; };
        for (FoldEntry& entry : entries()) {
            follow(entry.parent);
            for (int& child : entry.children)
                follow(child);
        }
        for (auto& [key, entry] : m_containers)
            follow(entry);
    }

    void sortChildren(int index)
    {
        auto& children = entries()[std::size_t(index)].children;
        std::sort(children.begin(), children.end(), [this](int a, int b) {
            return entries()[std::size_t(a)].order < entries()[std::size_t(b)].order;
        });
        for (int child : children)
            if (entries()[std::size_t(child)].isModule())
                sortChildren(child);
    }

    void labelUnits()
    {
        for (std::size_t i = 0; i < m_homes.size(); ++i) {
            FoldEntry& unit = entries()[i + 1];
            const std::string home = withoutCall(m_homes[i].key);
            if (unit.path.empty())
                unit.path = withoutMethod(home);
            if (unit.label.empty())
                unit.label = unitLabel(unit, home);
        }
        const NodeTitles titles(m_graph);
        for (FoldEntry& entry : entries())
            entry.title = entry.isModule() ? entry.path.empty() ? entry.label : entry.path
                                           : titles.of(entry.members);
    }

    std::string unitLabel(const FoldEntry& unit, const std::string& home) const
    {
        const Node& first = m_graph.get(unit.members.front());
        if (unit.kind == FoldEntry::Kind::Output)
            return QObject::tr("output").toStdString();
        if (unit.members.size() == 1)
            return first.kind == NodeKind::Input ? first.target.empty() ? first.name : first.target
                                                 : first.name;
        std::string out, previous;
        for (NodeId id : unit.members) {
            const Node& node = m_graph.get(id);
            std::string part = lastPart(node.scope.path);
            if (node.scope.path == home || isNumber(part) || part.empty())
                part = shortOpName(node.target);
            if (part != previous)
                out += (out.empty() ? "" : "·") + part;
            previous = part;
        }
        return out;
    }

    /// The module and the members of a unit.
    struct Home
    {
        std::string key; ///< of the module
        std::vector<NodeId> members;
    };

    const Graph& m_graph;
    const Plan* m_plan;
    std::shared_ptr<FoldTree> m_tree;
    std::unordered_map<NodeId, const WrappedScope*> m_methodOf;
    std::unordered_map<std::string, std::string> m_wraps; ///< entry path to the recipe's name
    std::vector<Home> m_homes; ///< of the units, which are the entries from 1 on
    std::unordered_map<std::string, int> m_containers;
    std::vector<std::pair<std::string, int>> m_dissolved; ///< with the unit that took its place
};

FoldTreePtr FoldTree::build(const Graph& graph, const Plan* plan,
                            const std::vector<WrappedScope>& wraps)
{
    return FoldTreeBuilder(graph, plan, wraps).build();
}

} // namespace qs
