// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/match/pattern_matcher.h"

#include "engine/base/text.h"
#include "engine/graph/match/pattern_match.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/plan/match/entry_pattern.h"
#include "engine/plan/match/norm_axis.h"

#include <algorithm>
#include <unordered_set>

namespace qs {

namespace {

/// Whether a node computes sizes; such nodes have the same names as operators on tensors.
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
            Row row {int(i), entryPattern(entry)};
            if (!row.pattern.targets.empty())
                m_rows[row.pattern.targets.front()].push_back(std::move(row));
        }
        for (auto& [name, rows] : m_rows)
            std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
                return a.pattern.size() > b.pattern.size();
            });
    }

    struct Row
    {
        int entry;
        GraphPattern pattern;
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

/// Number of different nodes that read outputs of the node. Readers of an object's other fields do
/// not count.
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

/// Whether an add scales an operand (`x + 2 * y`), which no fused kernel supports.
bool isScaledAdd(const Node& node)
{
    const Argument* alpha = node.tryArg("alpha");
    const std::int64_t* whole = alpha ? alpha->asInt() : nullptr;
    return alpha && !(whole && *whole == 1);
}

/// View of single operators by their names in backends, also inside a fusion.
class OperatorView final : public PatternView
{
public:
    OperatorView(const Graph& graph, const OpNames& names, const std::set<NodeId>& unfused)
        : m_graph(graph)
        , m_names(names)
        , m_unfused(unfused)
    {
    }

    const OpName& nameOf(NodeId id) const { return m_names[m_graph.position(id)]; }
    bool isVisible(const Node& node) const
    {
        const OpName& name = nameOf(node.id);
        return name.kind != OpName::Kind::None && name.kind != OpName::Kind::Inside
            && node.opaqueReason.empty() && !makesNumbers(node);
    }
    void take(NodeId id) { m_taken.insert(id); }

    const Node* tryGet(NodeId id) const override
    {
        const Node* node = m_graph.tryGet(id);
        return node && isVisible(*node) && !m_taken.contains(id) ? node : nullptr;
    }
    bool fits(const Node& node, const GraphPattern& pattern) const override
    {
        const OpName& name = nameOf(node.id);
        return name.name == pattern.targets.front()
            && (pattern.inputs.empty()
                || (!m_unfused.contains(node.id) && !isScaledAdd(node)
                    && !isTrainingBatchNorm(node, name)));
    }
    /// Cached, because many patterns end with the same operator.
    std::vector<Inflow> inputs(const Node& node, const GraphPattern& /*pattern*/) const override
    {
        const auto [found, isNew] = m_inputs.try_emplace(node.id);
        if (isNew)
            found->second = activationUses(m_graph, node, nameOf(node.id));
        return found->second;
    }
    std::size_t readers(NodeId id) const override { return readerCount(m_graph, m_graph.get(id)); }

private:
    const Graph& m_graph;
    const OpNames& m_names;
    const std::set<NodeId>& m_unfused;
    std::unordered_set<NodeId> m_taken;
    mutable std::unordered_map<NodeId, std::vector<Inflow>> m_inputs;
};

/// View of units by their last operators; a fusion is one unit with the name of its module.
class UnitView final : public PatternView
{
public:
    UnitView(const OperatorView& operators, const Graph& graph, const Matches& made,
             const std::set<NodeId>& unfused)
        : m_operators(operators)
        , m_graph(graph)
        , m_made(made)
        , m_unfused(unfused)
    {
    }

    const Node* tryGet(NodeId id) const override
    {
        const auto unit = m_made.unitOf.find(id);
        return unit != m_made.unitOf.end() && m_made.units[unit->second].last() == id
            ? m_graph.tryGet(id)
            : nullptr;
    }
    bool fits(const Node& node, const GraphPattern& pattern) const override
    {
        const Unit& unit = unitAt(node);
        return unit.name == pattern.targets.front() && pattern.inputs.size() < 2
            && (pattern.inputs.empty() || !m_unfused.contains(unit.root()));
    }
    std::vector<Inflow> inputs(const Node& node, const GraphPattern& /*pattern*/) const override
    {
        const Unit& unit = unitAt(node);
        if (!unit.extraInputs.empty())
            return {};
        return activationUses(m_graph, m_graph.get(unit.root()), m_operators.nameOf(unit.root()));
    }
    std::size_t readers(NodeId id) const override { return readerCount(m_graph, m_graph.get(id)); }

private:
    const Unit& unitAt(const Node& node) const { return m_made.units[m_made.unitOf.at(node.id)]; }

    const OperatorView& m_operators;
    const Graph& m_graph;
    const Matches& m_made;
    const std::set<NodeId>& m_unfused;
};

class Matcher
{
public:
    Matcher(const Graph& graph, const OpNames& names, const Backend& backend,
            const std::set<NodeId>& unfused)
        : m_graph(graph)
        , m_names(names)
        , m_backend(backend)
        , m_operators(graph, names, unfused)
        , m_units(m_operators, graph, m_out, unfused)
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
    struct Fit
    {
        PatternMatch found;
        int entry;
    };

    /// The first pattern that ends at the operator, matches, and satisfies `accepts`. Records
    /// patterns that only further readers prevent.
    template<class Accepts>
    std::optional<Fit> firstFit(const PatternView& view, const PatternIndex& index,
                                const std::string& name, NodeId last, const Accepts& accepts)
    {
        for (const auto& row : index.endingWith(name)) {
            auto found = matchPattern(view, row.pattern, last);
            if (!found || !accepts(*found, row.entry))
                continue;
            if (!found->crowded)
                return Fit {std::move(*found), row.entry};
            m_out.blocked.push_back({last, found->crowded, row.entry,
                                     "blocked: " + std::to_string(found->readers) + " users of "
                                         + inQuotes(m_graph.get(found->crowded).name)
                                         + ", a fusion needs one"});
        }
        return std::nullopt;
    }

    /// Whether the modules can be fused as the entry says. Records a batch norm that cannot be
    /// folded.
    bool isFusable(const PatternMatch& found, int entry)
    {
        if (!m_operators.nameOf(found.nodes.front()).isModule())
            return false;
        const std::string why = whyNotFoldable(m_graph, m_names, found.nodes);
        if (!why.empty() && !found.crowded)
            m_out.blocked.push_back({found.nodes.back(), found.nodes.front(), entry, why});
        return why.empty();
    }

    void fuse()
    {
        const PatternIndex index(m_backend, true);
        const auto nodes = m_graph.nodes();
        for (std::size_t i = nodes.size(); i-- > 0;) {
            const NodeId id = nodes[i]->id;
            if (nodes[i]->kind != NodeKind::Op || !m_operators.tryGet(id))
                continue;
            auto fit = firstFit(
                m_operators, index, m_operators.nameOf(id).name, id,
                [&](const PatternMatch& found, int entry) { return isFusable(found, entry); });
            if (!fit)
                continue;
            for (const NodeId member : fit->found.nodes) {
                m_operators.take(member);
                m_fusionOf[member] = m_fusions.size();
            }
            m_fusions.push_back(std::move(*fit));
        }
    }

    void collectUnits()
    {
        for (const auto& node : m_graph.nodes()) {
            if (!node->isOperator())
                continue;
            const auto fused = m_fusionOf.find(node->id);
            Unit unit;
            if (fused == m_fusionOf.end()) {
                unit.nodes = {node->id};
                unit.name = m_operators.isVisible(*node) ? m_operators.nameOf(node->id).name : "";
            } else {
                const Fit& fusion = m_fusions[fused->second];
                if (fusion.found.nodes.back() != node->id)
                    continue; // the unit has the position of its last node
                unit.nodes = fusion.found.nodes;
                unit.fusionEntry = fusion.entry;
                unit.extraInputs = fusion.found.open;
                unit.name = canonicalTypeName(
                    fusedModuleInEval(m_backend.patterns[std::size_t(fusion.entry)]));
            }
            for (const NodeId id : unit.nodes) {
                unit.names.push_back(m_operators.nameOf(id).name);
                m_out.unitOf[id] = m_out.units.size();
            }
            m_out.units.push_back(std::move(unit));
        }
    }

    /// All operators of the units that a pattern matched.
    std::vector<NodeId> members(const PatternMatch& found) const
    {
        std::vector<NodeId> all;
        for (const NodeId last : found.nodes) {
            const auto& nodes = m_out.units[m_out.unitOf.at(last)].nodes;
            all.insert(all.end(), nodes.begin(), nodes.end());
        }
        return all;
    }

    void match()
    {
        const PatternIndex index(m_backend, false);
        std::vector<bool> taken(m_out.units.size(), false);
        for (std::size_t u = m_out.units.size(); u-- > 0;) {
            const Unit& unit = m_out.units[u];
            if (taken[u] || unit.name.empty())
                continue;
            const auto fit
                = firstFit(m_units, index, unit.name, unit.last(),
                           [&](const PatternMatch& found, int /*entry*/) {
                               return whyNotFoldable(m_graph, m_names, members(found)).empty();
                           });
            if (!fit)
                continue;
            Match made;
            made.entry = fit->entry;
            for (const NodeId id : fit->found.nodes) {
                made.units.push_back(m_out.unitOf.at(id));
                taken[made.units.back()] = true;
            }
            m_out.matches.push_back(std::move(made));
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
    OperatorView m_operators;
    UnitView m_units;
    std::vector<Fit> m_fusions;
    std::unordered_map<NodeId, std::size_t> m_fusionOf;
};

} // namespace

std::vector<Inflow> activationUses(const Graph& graph, const Node& node, const OpName& name)
{
    std::vector<Inflow> found;
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
                      const std::set<NodeId>& unfused)
{
    return Matcher(graph, names, backend, unfused).run();
}

} // namespace qs
