// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/pattern_matcher.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

/// Backend entries by the name their pattern ends with, longest first, then in the file's order.
class PatternIndex
{
public:
    PatternIndex(const Backend& backend, bool fusions)
    {
        for (std::size_t i = 0; i < backend.patterns.size(); ++i) {
            const BackendPattern& entry = backend.patterns[i];
            if (entry.pattern.empty() || (fusions && entry.fuserMethod.empty())
                || (!fusions && entry.dtypeConfigs.empty()))
                continue;
            Row row {int(i), {}};
            for (const auto& name : entry.pattern)
                row.names.push_back(canonicalTypeName(name));
            m_rows[row.names.back()].push_back(std::move(row));
        }
        for (auto& [name, rows] : m_rows)
            std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
                return a.names.size() > b.names.size();
            });
    }

    struct Row
    {
        int entry;
        std::vector<std::string> names; ///< forward order
    };
    const std::vector<Row>& endingWith(const std::string& name) const
    {
        static const std::vector<Row> none;
        const auto found = m_rows.find(name);
        return found == m_rows.end() ? none : found->second;
    }

private:
    std::unordered_map<std::string, std::vector<Row>> m_rows;
};

/// Number of different nodes that read any output of the node.
std::size_t readerCount(const Graph& graph, const Node& node)
{
    std::unordered_set<NodeId> readers;
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
        for (const Use& use : graph.users({node.id, i}))
            readers.insert(use.node);
    return readers.size();
}

bool isTrainingBatchNorm(const Node& node, const OpName& name)
{
    if (name.base.find("batch_norm") == std::string::npos)
        return false;
    const Argument* training = node.tryArg("training");
    return training && training->asBool() && *training->asBool();
}

class Matcher
{
public:
    Matcher(const Graph& graph, const OpNames& names, const Backend& backend)
        : m_graph(graph)
        , m_names(names)
        , m_backend(backend)
    {
    }

    Matches run()
    {
        fuse();
        collectUnits();
        match();
        return std::move(m_out);
    }

private:
    const OpName& nameOf(NodeId id) const { return m_names[m_graph.position(id)]; }
    bool visible(NodeId id) const
    {
        const OpName& name = nameOf(id);
        return name.kind != OpName::Kind::None && name.kind != OpName::Kind::Inside
            && m_graph.get(id).opaqueReason.empty();
    }

    /// The node whose value flows into `id`, where there is exactly one such value.
    NodeId before(NodeId id) const
    {
        const auto refs = activationInputs(m_graph, m_graph.get(id), nameOf(id));
        return refs.size() == 1 && refs[0].index == 0 ? refs[0].node : NodeId {};
    }

    /// Walks back from `last` along the names; the nodes in forward order, or nothing. A walk that
    /// fails only for a second reader is remembered.
    std::vector<NodeId> chain(NodeId last, const std::vector<std::string>& names, int entry)
    {
        std::vector<NodeId> found {last};
        NodeId crowded;
        std::size_t crowd = 0;
        for (std::size_t i = names.size() - 1; i-- > 0;) {
            const NodeId id = before(found.front());
            if (!id || !m_graph.tryGet(id) || !visible(id) || m_fused.count(id)
                || nameOf(id).name != names[i])
                return {};
            const std::size_t readers = readerCount(m_graph, m_graph.get(id));
            if (readers != 1) {
                crowded = id;
                crowd = readers;
            }
            found.insert(found.begin(), id);
        }
        for (std::size_t i = 1; i < found.size(); ++i)
            if (isTrainingBatchNorm(m_graph.get(found[i]), nameOf(found[i])))
                return {};
        if (crowded) {
            m_out.blocked.push_back({last, crowded, entry, crowd});
            return {};
        }
        return found;
    }

    void fuse()
    {
        const PatternIndex index(m_backend, true);
        const auto nodes = m_graph.nodes();
        for (std::size_t i = nodes.size(); i-- > 0;) {
            const NodeId id = nodes[i]->id;
            if (nodes[i]->kind != NodeKind::Op || !visible(id) || m_fused.count(id))
                continue;
            for (const auto& row : index.endingWith(m_names[i].name)) {
                const auto members = chain(id, row.names, row.entry);
                if (members.empty() || !nameOf(members.front()).isModule())
                    continue;
                for (const NodeId member : members)
                    m_fused[member] = m_fusions.size();
                m_fusions.push_back({members, row.entry});
                break;
            }
        }
    }

    void collectUnits()
    {
        for (const auto& node : m_graph.nodes()) {
            if (node->kind != NodeKind::Op && node->kind != NodeKind::ModuleCall)
                continue;
            const auto fused = m_fused.find(node->id);
            Unit unit;
            if (fused == m_fused.end()) {
                unit.nodes = {node->id};
                unit.name = visible(node->id) ? nameOf(node->id).name : "";
            } else {
                const auto& [members, entry] = m_fusions[fused->second];
                if (members.back() != node->id)
                    continue; // the unit stands where its last node stands
                unit.nodes = members;
                unit.fusionEntry = entry;
                unit.name
                    = canonicalTypeName(fusedModuleInEval(m_backend.patterns[std::size_t(entry)]));
            }
            for (const NodeId id : unit.nodes) {
                unit.names.push_back(nameOf(id).name);
                m_out.unitOf[id] = m_out.units.size();
            }
            m_out.units.push_back(std::move(unit));
        }
    }

    std::vector<std::size_t> unitChain(std::size_t last, const std::vector<std::string>& names,
                                       int entry)
    {
        std::vector<std::size_t> found {last};
        for (std::size_t i = names.size() - 1; i-- > 0;) {
            const NodeId id = before(m_out.units[found.front()].root());
            const auto unit = id ? m_out.unitOf.find(id) : m_out.unitOf.end();
            if (unit == m_out.unitOf.end() || m_out.units[unit->second].name != names[i]
                || m_out.units[unit->second].last() != id)
                return {};
            const std::size_t readers = readerCount(m_graph, m_graph.get(id));
            if (readers != 1) {
                m_out.blocked.push_back({m_out.units[last].last(), id, entry, readers});
                return {};
            }
            found.insert(found.begin(), unit->second);
        }
        return found;
    }

    void match()
    {
        const PatternIndex index(m_backend, false);
        std::vector<bool> taken(m_out.units.size(), false);
        for (std::size_t u = m_out.units.size(); u-- > 0;) {
            if (taken[u] || m_out.units[u].name.empty())
                continue;
            for (const auto& row : index.endingWith(m_out.units[u].name)) {
                const auto units = unitChain(u, row.names, row.entry);
                if (units.empty())
                    continue;
                for (const std::size_t member : units)
                    taken[member] = true;
                m_out.matches.push_back({units, row.entry});
                break;
            }
        }
        std::reverse(m_out.matches.begin(), m_out.matches.end());
        for (std::size_t i = 0; i < m_out.matches.size(); ++i)
            for (const std::size_t u : m_out.matches[i].units)
                for (const NodeId id : m_out.units[u].nodes)
                    m_out.matchOf[id] = int(i);
    }

    const Graph& m_graph;
    const OpNames& m_names;
    const Backend& m_backend;
    Matches m_out;
    std::unordered_map<NodeId, std::size_t> m_fused;
    std::vector<std::pair<std::vector<NodeId>, int>> m_fusions;
};

} // namespace

std::vector<ValueRef> activationInputs(const Graph& graph, const Node& node, const OpName& name)
{
    std::vector<ValueRef> found;
    for (std::size_t a = 0; a < node.args.size(); ++a) {
        if (argumentRole(node, name, a) != ArgumentRole::Activation)
            continue;
        forEachRef(node.args[a].value, [&](ValueRef ref) {
            const Node* producer = graph.tryGet(ref.node);
            if (!producer || ref.index >= producer->outputs.size()
                || producer->outputs[ref.index].type.kind != ValueKind::Tensor)
                return;
            const bool stored
                = producer->kind == NodeKind::Parameter || producer->kind == NodeKind::Constant;
            if (!stored || !name.isModule())
                found.push_back(ref);
        });
    }
    return found;
}

Matches matchPatterns(const Graph& graph, const OpNames& names, const Backend& backend)
{
    return Matcher(graph, names, backend).run();
}

} // namespace qs
