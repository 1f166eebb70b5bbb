// SPDX-License-Identifier: Apache-2.0
#include "engine/custom_modules/gather_modules.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/custom_modules/custom_module.h"
#include "engine/graph/graph_verifier.h"
#include "engine/graph/map_refs.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/state.h"

#include <algorithm>

namespace qs {

namespace {

using Members = std::vector<NodeId>;

/// One call of a module: its operators, including those of inner modules, in graph order.
struct ModuleCall
{
    Scope scope;
    Members members;
};

/// Returns the number of calls of each module, by path.
std::map<std::string, int> callCounts(const Graph& graph)
{
    std::map<std::string, int> counts;
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator()) {
            int& count = counts[node->scope.path];
            count = std::max(count, node->scope.callIndex + 1);
        }
    return counts;
}

/// Returns the calls of the outermost gathered modules.
std::vector<ModuleCall> callsToGather(const Graph& graph)
{
    std::vector<const ModuleEntry*> modules;
    for (const ModuleEntry* entry : graph.modules().inOrder()) {
        const CustomModulePtr custom = customModuleOf(entry->moduleClass);
        const bool isInside = std::any_of(modules.begin(), modules.end(), [&](const auto* outer) {
            return ModuleTree::isWithin(entry->path, outer->path);
        });
        if (custom && custom->isGathered() && !isInside)
            modules.push_back(entry);
    }
    std::vector<ModuleCall> calls;
    if (modules.empty())
        return calls;
    const std::map<std::string, int> counts = callCounts(graph);
    for (const ModuleEntry* entry : modules) {
        // Call count of a module without own operators: the minimum over its children.
        int often = 0;
        for (const auto& [path, count] : counts)
            if (ModuleTree::isWithin(path, entry->path) && (often == 0 || count < often))
                often = count;
        if (const auto own = counts.find(entry->path); own != counts.end())
            often = own->second;
        std::vector<ModuleCall> found;
        for (int call = 0; call < often; ++call)
            found.push_back({{entry->path, entry->moduleClass, call}, {}});
        for (const NodePtr& node : graph.nodes())
            if (node->isOperator() && ModuleTree::isWithin(node->scope.path, entry->path)) {
                const int call = node->scope.callIndex * often / counts.at(node->scope.path);
                found.at(std::size_t(call)).members.push_back(node->id);
            }
        for (ModuleCall& call : found)
            if (!call.members.empty()
                && !(call.members.size() == 1 && graph.get(call.members[0]).isOp(kModuleTarget)))
                calls.push_back(std::move(call));
    }
    return calls;
}

class Gatherer
{
public:
    Gatherer(const Graph& graph, GraphEdit& edit, const ModuleCall& call)
        : m_graph(graph)
        , m_edit(edit)
        , m_call(call)
        , m_members(call.members.begin(), call.members.end())
    {
    }

    /// Gathers the call. Returns "", or why it cannot be gathered.
    std::string run()
    {
        if (std::string why = whyNot(); !why.empty())
            return why;
        const Node made = gathered();
        // Consumers between the operators move after the gathered node.
        const std::vector<NodeId> order = m_edit.order();
        const auto last = std::find(order.begin(), order.end(), m_call.members.back());
        const NodeId next = *std::next(last); // at least the Output node follows
        const NodeId id = m_edit.insertAfter(made, m_call.members.back());
        for (const NodeId reader : m_between)
            m_edit.moveBefore(reader, next);
        for (std::uint32_t i = 0; i < m_leaving.size(); ++i)
            m_edit.replaceUses(m_leaving[i], {id, i});
        for (auto member = m_call.members.rbegin(); member != m_call.members.rend(); ++member)
            m_edit.erase(*member);
        return {};
    }

private:
    bool isMember(NodeId id) const { return m_members.contains(id); }

    /// Finds the call's results and their consumers between its operators. Returns why it cannot be
    /// gathered, or "".
    std::string whyNot()
    {
        for (const NodeId id : m_call.members) {
            const Node& node = m_edit.get(id);
            if (!node.opaqueReason.empty())
                return inQuotes(node.name) + " " + node.opaqueReason;
            if (node.target == kSetStateTarget)
                return "it changes a buffer";
            for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
                const auto users = m_edit.users({id, i});
                if (std::any_of(users.begin(), users.end(),
                                [&](const Use& use) { return !isMember(use.node); }))
                    m_leaving.push_back({id, i});
            }
        }
        const std::vector<NodeId> order = m_edit.order();
        const auto first = std::find(order.begin(), order.end(), m_call.members.front());
        const auto last = std::find(order.begin(), order.end(), m_call.members.back());
        std::unordered_set<NodeId> dependent;
        for (auto it = first; it != last; ++it) {
            bool reads = false, comesBack = false;
            for (const NamedArgument& argument : m_edit.get(*it).args)
                forEachRef(argument.value, [&](ValueRef ref) {
                    reads = reads || isMember(ref.node);
                    comesBack = comesBack || dependent.contains(ref.node);
                });
            if (isMember(*it) && comesBack)
                return "what it gives comes back into it through operators outside";
            if (!isMember(*it) && (reads || comesBack)) {
                dependent.insert(*it);
                m_between.push_back(*it);
            }
        }
        bool comesBack = false;
        for (const NamedArgument& argument : m_edit.get(*last).args)
            forEachRef(argument.value, [&](ValueRef ref) {
                comesBack = comesBack || dependent.contains(ref.node);
            });
        if (comesBack)
            return "what it gives comes back into it through operators outside";
        return m_leaving.empty() ? "nothing reads what it computes" : "";
    }

    Node gathered()
    {
        Node made;
        made.target = std::string(kModuleTarget);
        const std::string leaf = lastPart(m_call.scope.path);
        made.name = leaf.empty() || std::isdigit(static_cast<unsigned char>(leaf[0]))
            ? "module_" + leaf
            : leaf;
        made.scope = m_call.scope;
        made.source = m_edit.get(m_call.members.front()).source;
        GraphEdit body;
        body.setTensors(m_edit.tensors());
        body.setInfo(m_graph.info());
        Argument::List inputs, params, sizes;
        // All inputs first, in the order of the lists.
        for (const bool stored : {false, true})
            readFromOutside(body, stored, stored ? params : inputs);
        for (const ValueRef ref : m_sizes) {
            sizes.emplace_back(ref);
            addInput(body, ref, m_edit.get(ref.node).name);
        }
        made.args = {{"inputs", std::move(inputs)}, {"params", std::move(params)}};
        if (!sizes.empty())
            made.args.push_back({"sizes", std::move(sizes)});
        for (const NodeId id : m_call.members) {
            Node copy = m_edit.get(id);
            copy.id = {};
            copy.args = mapRefs(copy.args, [&](ValueRef ref) { return m_inside.at(ref); });
            const std::uint32_t outputs = std::uint32_t(copy.outputs.size());
            const NodeId inner = body.insert(std::move(copy));
            for (std::uint32_t i = 0; i < outputs; ++i)
                m_inside[{id, i}] = {inner, i};
        }
        Node output;
        output.kind = NodeKind::Output;
        output.name = "output";
        for (const ValueRef ref : m_leaving) {
            output.args.push_back({"", m_inside.at(ref)});
            made.outputs.push_back({"", m_edit.get(ref.node).outputs.at(ref.index).type});
        }
        body.insert(std::move(output));
        made.subgraphs = {std::make_shared<const Graph>(body.build())};
        return made;
    }

    void readFromOutside(GraphEdit& body, bool stored, Argument::List& list)
    {
        for (const NodeId id : m_call.members)
            for (const NamedArgument& argument : m_edit.get(id).args)
                forEachRef(argument.value, [&](ValueRef ref) {
                    const Node& from = m_edit.get(ref.node);
                    if (isMember(ref.node) || m_inside.contains(ref) || from.isStored() != stored)
                        return;
                    const ValueKind kind = from.outputs.at(ref.index).type.kind;
                    if (!stored && kind != ValueKind::Tensor) {
                        if (std::find(m_sizes.begin(), m_sizes.end(), ref) == m_sizes.end())
                            m_sizes.push_back(ref);
                        return;
                    }
                    list.emplace_back(ref);
                    addInput(body, ref, stored ? withinModule(from.target) : from.name);
                });
    }

    void addInput(GraphEdit& body, ValueRef ref, const std::string& target)
    {
        Node input;
        input.kind = NodeKind::Input;
        input.name = input.target = target;
        std::replace(input.name.begin(), input.name.end(), '.', '_');
        input.outputs.push_back({"", m_edit.get(ref.node).outputs.at(ref.index).type});
        m_inside[ref] = {body.insert(std::move(input)), 0};
    }

    /// "linear.weight" for "block.gate.linear.weight" of module "block.gate".
    std::string withinModule(const std::string& path) const
    {
        const std::string& own = m_call.scope.path;
        const bool isOwn = !own.empty() && path.starts_with(own + ".");
        return isOwn ? path.substr(own.size() + 1) : path;
    }

    const Graph& m_graph;
    GraphEdit& m_edit;
    const ModuleCall& m_call;
    const std::unordered_set<NodeId> m_members;
    std::vector<ValueRef> m_leaving; ///< values with consumers outside
    std::vector<NodeId> m_between; ///< their consumers between the members, in order
    std::vector<ValueRef> m_sizes;
    /// Body values, by outer value or value of a member.
    std::unordered_map<ValueRef, ValueRef> m_inside;
};

} // namespace

Result<GraphPtr> gatherModules(GraphPtr graph)
{
    const std::vector<ModuleCall> calls = callsToGather(*graph);
    if (calls.empty())
        return graph;
    GraphEdit edit(*graph);
    bool changed = false;
    for (const ModuleCall& call : calls) {
        const std::string why = Gatherer(*graph, edit, call).run();
        changed = changed || why.empty();
        if (!why.empty())
            warn("module " + inQuotes(call.scope.path) + " of class " + call.scope.moduleClass
                 + " is not taken as a whole: " + why);
    }
    if (!changed)
        return graph;
    auto gathered = std::make_shared<const Graph>(edit.build());
    QS_CHECK(verifyGraph(*gathered));
    return gathered;
}

GatheredArguments::GatheredArguments(const Node& gathered, const Node& now)
{
    const auto names = gathered.subgraphs.at(0)->inputs();
    std::size_t next = 0;
    for (std::size_t a = 0; a < now.args.size(); ++a)
        forEachRef(now.args[a].value, [&](ValueRef ref) {
            const std::string& name = names[next++]->target;
            if (a == 0)
                inputs.push_back(ref);
            if (a == 1) {
                parameters[name] = ref;
                parameterNames.push_back(name);
            }
        });
}

} // namespace qs
