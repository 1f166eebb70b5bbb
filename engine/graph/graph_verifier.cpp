// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/graph_verifier.h"

#include "engine/base/memory/free_later.h"
#include "engine/graph/operators/operator_name.h"

#include <string_view>
#include <unordered_set>

namespace qs {

namespace {

Error broken(const Node& node, const std::string& what)
{
    return makeError(ErrorCode::Internal, what).atNode(node.name);
}

class Verifier
{
public:
    Result<void> check(const Graph& graph, const JobContext& job)
    {
        const std::size_t count = graph.nodes().size();
        m_ids.reserve(count);
        m_nodeNames.reserve(count);
        m_valueNames.reserve(count);
        m_made.reserve(count);
        std::size_t outputs = 0;
        for (const auto& node : graph.nodes()) {
            QS_CHECK(job.check());
            if (outputs > 0)
                return fail(broken(*node, "stands after the output"));
            outputs += node->kind == NodeKind::Output;
            QS_CHECK(checkNames(*node));
            QS_CHECK(checkKind(*node, graph));
            QS_CHECK(checkArguments(*node));
            for (std::uint32_t i = 0; i < node->outputs.size(); ++i)
                m_made.insert({node->id, i});
        }
        if (outputs != 1)
            return fail(ErrorCode::Internal, "the graph has no output node");
        return {};
    }

private:
    Result<void> checkNames(const Node& node)
    {
        if (!node.id || !m_ids.insert(node.id).second)
            return fail(broken(node, "its id is missing or used twice"));
        if (node.name.empty() || !m_nodeNames.insert(node.name).second)
            return fail(broken(node, "its name is missing or used twice"));
        for (const auto& value : node.outputs)
            if (value.name.empty() || !m_valueNames.insert(value.name).second)
                return fail(
                    broken(node, "the name of its value '" + value.name + "' is used twice"));
        return {};
    }

    static Result<void> checkKind(const Node& node, const Graph& graph)
    {
        if (node.isStored() && !node.tensor && graph.tensors())
            return fail(broken(node, "it has no tensor"));
        if ((node.isStored() || node.kind == NodeKind::Input)
            && (node.outputs.size() != 1 || !node.args.empty()))
            return fail(broken(node, "an input or weight has one value and no arguments"));
        if (node.kind == NodeKind::Output && !node.outputs.empty())
            return fail(broken(node, "the output node makes no values"));
        if (node.kind == NodeKind::Op && node.target.empty())
            return fail(broken(node, "it has no target"));
        const OperatorParts parts = operatorParts(node.target); // "_operator.not_" has no overload
        if (node.kind == NodeKind::Op && node.opaqueReason.empty() && parts.isInPlace()
            && !parts.overload.empty())
            return fail(broken(node, "'" + node.target + "' works in place"));
        return {};
    }

    Result<void> checkArguments(const Node& node) const
    {
        bool known = true;
        for (const auto& arg : node.args)
            forEachRef(arg.value, [&](ValueRef ref) { known = known && m_made.contains(ref); });
        if (!known)
            return fail(broken(node, "it reads a value that no earlier node makes"));
        return {};
    }

    std::unordered_set<NodeId> m_ids;
    std::unordered_set<std::string_view> m_nodeNames, m_valueNames; ///< of the graph's own nodes
    std::unordered_set<ValueRef> m_made;
};

} // namespace

Result<void> verifyGraph(const Graph& graph, const JobContext& job)
{
    return makeFreedLater<Verifier>()->check(graph, job);
}

} // namespace qs
