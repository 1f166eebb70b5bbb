// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/memory_estimate.h"

#include "engine/base/memory/memory_budget.h"
#include "engine/execute/calls/open_sizes.h"
#include "engine/execute/liveness.h"
#include "engine/execute/op_table.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/text/size_expression.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <unordered_map>

namespace qs {

namespace {

/// Returns the value whose memory an output shares, if the operator's schema declares a view.
std::optional<ValueRef> viewedValue(const Node& node)
{
    if (node.isOp(kObserveTarget) && !node.args.empty() && node.args[0].value.asRef())
        return *node.args[0].value.asRef();
    const auto op = node.kind == NodeKind::Op ? findOperator(node.target) : std::nullopt;
    if (!op || op->schema().returns().empty())
        return std::nullopt;
    const auto& schema = op->schema();
    if (!schema.returns()[0].alias_info() || schema.returns()[0].alias_info()->isWrite())
        return std::nullopt;
    for (std::size_t i = 0; i < std::min(schema.arguments().size(), node.args.size()); ++i)
        if (schema.arguments()[i].alias_info())
            if (const ValueRef* ref = node.args[i].value.asRef())
                return *ref;
    return std::nullopt;
}

/// Tracks the bytes of live values over a run.
class LiveBytes
{
public:
    explicit LiveBytes(OpenSizes symbols)
        : m_symbols(std::move(symbols))
    {
    }

    void make(const Node& node)
    {
        const auto viewed = viewedValue(node);
        for (std::uint32_t k = 0; k < node.outputs.size(); ++k) {
            const ValueRef ref {node.id, k};
            const ValueRef owner = viewed ? ownerOf(*viewed) : ref;
            m_owner[ref] = owner;
            if (m_readers[owner]++ == 0)
                m_now += m_bytes[owner] = tensorBytes(node.outputs[k].type, m_symbols);
        }
        m_most = std::max(m_most, m_now);
    }

    void drop(ValueRef ref)
    {
        const ValueRef owner = ownerOf(ref);
        if (--m_readers[owner] == 0)
            m_now -= m_bytes[owner];
    }

    std::int64_t most() const { return m_most; }

private:
    ValueRef ownerOf(ValueRef ref) const
    {
        const auto found = m_owner.find(ref);
        return found == m_owner.end() ? ref : found->second;
    }

    OpenSizes m_symbols;
    std::unordered_map<ValueRef, ValueRef> m_owner;
    /// Number of live values that share an owner's memory.
    std::unordered_map<ValueRef, int> m_readers;
    std::unordered_map<ValueRef, std::int64_t> m_bytes;
    std::int64_t m_now = 0, m_most = 0;
};

/// Returns the largest batch that fits; 0 if none does.
std::int64_t fittingSamples(std::int64_t forValues, std::int64_t values, std::int64_t samples)
{
    return values > 0 ? std::int64_t(double(forValues) / double(values) * double(samples)) : 0;
}

} // namespace

namespace {

MemoryEstimate estimateFor(const Graph& graph, OpenSizes symbols)
{
    MemoryEstimate out;
    LiveBytes live(std::move(symbols));
    const auto dead = lastUses(graph);
    const auto nodes = graph.nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i]->isStored())
            for (const Value& value : nodes[i]->outputs)
                out.weights += tensorBytes(value.type, {});
        else
            live.make(*nodes[i]);
        for (const ValueRef ref : dead[i])
            if (!graph.get(ref.node).isStored())
                live.drop(ref);
    }
    out.live = live.most();
    return out;
}

} // namespace

MemoryEstimate estimateMemory(const Graph& graph, const std::vector<at::IValue>& inputs)
{
    return estimateFor(graph, openSizes(graph, inputs));
}

MemoryEstimate estimateMemory(const Graph& graph, std::int64_t samples)
{
    return estimateFor(graph, openSizes(graph, samples));
}

Result<void> checkFits(const MemoryEstimate& estimate, std::int64_t freeBytes, std::int64_t samples,
                       const std::string& device)
{
    if (estimate.needed() <= freeBytes)
        return {};
    const std::int64_t fixed = estimate.needed() - 2 * estimate.live;
    const std::int64_t most = fittingSamples(freeBytes - fixed, 2 * estimate.live, samples);
    return fail(makeError(ErrorCode::Device,
                          "a batch of " + std::to_string(samples) + " needs about "
                              + memoryText(estimate.needed()) + " on " + device + ", where "
                              + memoryText(freeBytes) + " are free")
                    .withHint(most >= 1 ? "set \"batch_size\" to " + std::to_string(most)
                                      + " in the recipe's \"calibration\", or use --device cpu"
                                        : std::string("use --device cpu")));
}

Result<void> checkFitsHere(const MemoryEstimate& estimate, std::int64_t freeBytes,
                           std::int64_t samples)
{
    if (estimate.least() <= freeBytes)
        return {};
    const std::int64_t fixed = estimate.least() - 2 * estimate.live;
    const std::int64_t most = fittingSamples(freeBytes - fixed, 2 * estimate.live, samples);
    return fail(makeError(ErrorCode::Device,
                          "a batch of " + std::to_string(samples) + " needs at least "
                              + memoryText(estimate.least()) + " of memory (weights "
                              + memoryText(estimate.weights) + "), where " + memoryText(freeBytes)
                              + " are free")
                    .withHint(most >= 1
                                  ? "set \"batch_size\" to " + std::to_string(most)
                                      + " in the recipe's \"calibration\""
                                  : std::string("close other programs or use a larger machine")));
}

} // namespace qs
