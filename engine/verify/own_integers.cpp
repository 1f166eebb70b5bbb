// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/own_integers.h"

#include "engine/execute/interpreter.h"
#include "engine/graph/argument_number.h"
#include "engine/graph/operators/quantized_target.h"

#include <ATen/ATen.h>

#include <map>

namespace qs {

namespace {

constexpr const char* kTopk = "aten.topk.default";

/// Collects integers and scores while the graph runs.
class Keeper
{
public:
    explicit Keeper(const Graph& graph)
        : m_graph(graph)
    {
    }

    void see(ValueRef ref, const Node& node, const at::Tensor& value)
    {
        if (isQuantizeStep(node.target))
            m_kept.push_back({node.name, value, m_halfway[node.name]});
        if (node.isOp(kTopk) && ref.index == 1)
            m_kept.push_back({m_graph.value(ref).name,
                              value,
                              {},
                              m_scores[node.name],
                              std::int64_t(numberOf(node.tryArg("dim")).value_or(-1))});
        for (const Use& use : m_graph.users(ref))
            readBy(m_graph.get(use.node), value);
    }

    NodeIntegers take() { return std::move(m_kept); }

private:
    void readBy(const Node& reader, const at::Tensor& value)
    {
        if (reader.isOp(kTopk))
            m_scores[reader.name] = value;
        if (!reader.isOp(kQuantizePerTensor) && !reader.isOp(kQuantizeOfMoment))
            return;
        const auto scale = numberOf(reader.tryArg("scale"));
        const auto zeroPoint = numberOf(reader.tryArg("zero_point"));
        if (scale && zeroPoint)
            m_halfway[reader.name] = halfwayOf(value, *scale, *zeroPoint);
    }

    const Graph& m_graph;
    NodeIntegers m_kept;
    std::map<std::string, at::Tensor> m_halfway, m_scores; ///< by the node that reads the value
};

} // namespace

at::Tensor halfwayOf(const at::Tensor& values, double scale, double zeroPoint)
{
    const at::Tensor steps = values.to(at::kDouble).div(scale).add(zeroPoint);
    return (steps - steps.floor() - 0.5).abs().le(kHalfway);
}

Result<NodeIntegers> ownIntegers(const GraphPtr& reference, const std::vector<at::IValue>& inputs,
                                 const JobContext& job)
{
    QS_TRY(const Interpreter interpreter, Interpreter::create(reference, {}, job));
    Keeper keeper(*reference);
    const Tap keep = [&keeper](ValueRef ref, const Node& node, const at::IValue& value) {
        if (value.isTensor())
            keeper.see(ref, node, value.toTensor());
        return Result<void>();
    };
    QS_CHECK(interpreter.run(inputs, keep, job));
    return keeper.take();
}

} // namespace qs
