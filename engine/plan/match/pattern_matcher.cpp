// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/match/pattern_matcher.h"

#include "engine/graph/operators/class_parts.h"
#include "engine/plan/match/pattern_tree.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

/// Arithmetic on sizes, which has the names of that on tensors.
bool makesNumbers(const Node& node)
{
    return !node.outputs.empty()
        && std::all_of(node.outputs.begin(), node.outputs.end(), [](const Value& value) {
               return value.type.kind >= ValueKind::SymInt && value.type.kind <= ValueKind::SymBool;
           });
}

/// Backend entries by the name their pattern ends with, longest first, then in the file's order.
class PatternIndex
{
public:
    PatternIndex(const Backend& backend, bool fusions)
    {
        for (std::size_t i = 0; i < backend.patterns.size(); ++i) {
            const BackendPattern& entry = backend.patterns[i];
            if ((fusions && entry.fuserMethod.empty()) || (!fusions && entry.dtypeConfigs.empty()))
                continue;
            Row row {int(i), patternTree(entry)};
            if (!row.tree.name.empty())
                m_rows[row.tree.name].push_back(std::move(row));
        }
        for (auto& [name, rows] : m_rows)
            std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
                return a.tree.size() > b.tree.size();
            });
    }

    struct Row
    {
        int entry;
        PatternTree tree;
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

/// Number of different nodes that read any output of the node; who takes an object's rest may take
/// another field with it.
std::size_t readerCount(const Graph& graph, const Node& node)
{
    std::unordered_set<NodeId> readers;
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
        if (!isPartsTarget(node.target) || node.outputs[i].type.kind != ValueKind::Custom)
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
    Matcher(const Graph& graph, const OpNames& names, const Backend& backend,
            const std::set<NodeId>& apart)
        : m_graph(graph)
        , m_names(names)
        , m_backend(backend)
        , m_apart(apart)
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
            && m_graph.get(id).opaqueReason.empty() && !makesNumbers(m_graph.get(id));
    }

    /// A walk back from an operator along a pattern.
    struct Walk
    {
        std::vector<NodeId> nodes; ///< forward order
        std::vector<Use> extras; ///< what the pattern's stars stand for
        NodeId crowded; ///< an inner node with more than one reader
        std::size_t readers = 0;
    };

    /// Does the pattern fit, seen from its last operator? Second readers are only noted.
    bool walk(NodeId id, const PatternTree& tree, Walk& out) const
    {
        if (!m_graph.tryGet(id) || !visible(id) || m_fused.count(id) || nameOf(id).name != tree.name
            || (!tree.inputs.empty() && m_apart.contains(id)))
            return false;
        const auto& inputs = usesOf(id);
        if (!tree.inputs.empty() && (inputs.size() != tree.inputs.size() || isScaledAdd(id)))
            return false;
        for (std::size_t i = 0; i < tree.inputs.size(); ++i) {
            const auto& [use, ref] = inputs[i];
            if (tree.inputs[i].any()) {
                out.extras.push_back(use);
                continue;
            }
            if (ref.index != 0 || !walk(ref.node, tree.inputs[i], out))
                return false;
            const std::size_t readers = readerCount(m_graph, m_graph.get(ref.node));
            if (readers != 1) {
                out.crowded = ref.node;
                out.readers = readers;
            }
        }
        if (!tree.inputs.empty() && isTrainingBatchNorm(m_graph.get(id), nameOf(id)))
            return false;
        out.nodes.push_back(id);
        return true;
    }

    /// Many patterns end with the same operator: what flows into it is looked up once.
    const std::vector<std::pair<Use, ValueRef>>& usesOf(NodeId id) const
    {
        const auto [found, isNew] = m_uses.try_emplace(id);
        if (isNew)
            found->second = activationUses(m_graph, m_graph.get(id), nameOf(id));
        return found->second;
    }

    /// `x + 2 * y` written as one add: no fused kernel multiplies.
    bool isScaledAdd(NodeId id) const
    {
        const Argument* alpha = m_graph.get(id).tryArg("alpha");
        const std::int64_t* whole = alpha ? alpha->asInt() : nullptr;
        return alpha && !(whole && *whole == 1);
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
                Walk found;
                if (!walk(id, row.tree, found) || !nameOf(found.nodes.front()).isModule())
                    continue;
                if (found.crowded) {
                    m_out.blocked.push_back({id, found.crowded, row.entry, found.readers});
                    continue;
                }
                for (const NodeId member : found.nodes)
                    m_fused[member] = m_fusions.size();
                m_fusions.push_back({std::move(found.nodes), row.entry, std::move(found.extras)});
                break;
            }
        }
    }

    void collectUnits()
    {
        for (const auto& node : m_graph.nodes()) {
            if (!node->isOperator())
                continue;
            const auto fused = m_fused.find(node->id);
            Unit unit;
            if (fused == m_fused.end()) {
                unit.nodes = {node->id};
                unit.name = visible(node->id) ? nameOf(node->id).name : "";
            } else {
                const Fusion& fusion = m_fusions[fused->second];
                if (fusion.nodes.back() != node->id)
                    continue; // the unit stands where its last node stands
                unit.nodes = fusion.nodes;
                unit.fusionEntry = fusion.entry;
                unit.extraInputs = fusion.extras;
                unit.name = canonicalTypeName(
                    fusedModuleInEval(m_backend.patterns[std::size_t(fusion.entry)]));
            }
            for (const NodeId id : unit.nodes) {
                unit.names.push_back(nameOf(id).name);
                m_out.unitOf[id] = m_out.units.size();
            }
            m_out.units.push_back(std::move(unit));
        }
    }

    /// The node whose value flows into the unit, where there is exactly one such value.
    NodeId before(const Unit& unit) const
    {
        const auto refs = activationInputs(m_graph, m_graph.get(unit.root()), nameOf(unit.root()));
        return refs.size() == 1 && refs[0].index == 0 && unit.extraInputs.empty() ? refs[0].node
                                                                                  : NodeId {};
    }

    /// The units that a chain of names fits, in forward order, or nothing.
    std::vector<std::size_t> unitChain(std::size_t last, const PatternTree& tree, int entry)
    {
        std::vector<std::size_t> found {last};
        const PatternTree* want = &tree;
        while (!want->inputs.empty()) {
            if (want->inputs.size() != 1 || m_apart.contains(m_out.units[found.front()].root()))
                return {};
            want = &want->inputs.front();
            const NodeId id = before(m_out.units[found.front()]);
            const auto unit = id ? m_out.unitOf.find(id) : m_out.unitOf.end();
            if (unit == m_out.unitOf.end() || m_out.units[unit->second].name != want->name
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
                const auto units = unitChain(u, row.tree, row.entry);
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
    const std::set<NodeId>& m_apart;
    Matches m_out;
    mutable std::unordered_map<NodeId, std::vector<std::pair<Use, ValueRef>>> m_uses;
    std::unordered_map<NodeId, std::size_t> m_fused;
    struct Fusion
    {
        std::vector<NodeId> nodes;
        int entry;
        std::vector<Use> extras;
    };
    std::vector<Fusion> m_fusions;
};

} // namespace

std::vector<std::pair<Use, ValueRef>> activationUses(const Graph& graph, const Node& node,
                                                     const OpName& name)
{
    std::vector<std::pair<Use, ValueRef>> found;
    for (std::uint32_t a = 0; a < node.args.size(); ++a) {
        if (argumentRole(node, name, a) != ArgumentRole::Activation)
            continue;
        forEachRef(node.args[a].value, [&](ValueRef ref) {
            const Node* producer = graph.tryGet(ref.node);
            if (!producer || ref.index >= producer->outputs.size()
                || producer->outputs[ref.index].type.kind != ValueKind::Tensor)
                return;
            const bool stored = producer->isStored();
            if (!stored || !name.isModule())
                found.push_back({{node.id, a}, ref});
        });
    }
    return found;
}

std::vector<ValueRef> activationInputs(const Graph& graph, const Node& node, const OpName& name)
{
    std::vector<ValueRef> found;
    for (const auto& [use, ref] : activationUses(graph, node, name))
        found.push_back(ref);
    return found;
}

Matches matchPatterns(const Graph& graph, const OpNames& names, const Backend& backend,
                      const std::set<NodeId>& apart)
{
    return Matcher(graph, names, backend, apart).run();
}

} // namespace qs
