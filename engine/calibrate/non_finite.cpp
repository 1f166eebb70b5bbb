// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/non_finite.h"

#include <ATen/ATen.h>

#include <unordered_set>

namespace qs {

namespace {

// The nodes whose values `node` is made from, itself included.
std::unordered_set<NodeId> ancestors(const Graph& graph, NodeId node)
{
    std::unordered_set<NodeId> found {node};
    std::vector<NodeId> open {node};
    while (!open.empty()) {
        const Node& current = graph.get(open.back());
        open.pop_back();
        for (const auto& arg : current.args)
            forEachRef(arg.value, [&](ValueRef ref) {
                if (found.insert(ref.node).second)
                    open.push_back(ref.node);
            });
    }
    return found;
}

} // namespace

bool mayBeNonFinite(const at::IValue& value)
{
    if (!value.isTensor())
        return false;
    const at::Tensor& tensor = value.toTensor();
    return tensor.defined() && tensor.is_floating_point() && tensor.numel() > 0;
}

bool holdsNonFinite(const at::IValue& value)
{
    return mayBeNonFinite(value) && !at::isfinite(value.toTensor()).all().item<bool>();
}

NodeId firstNonFinite(const Interpreter& interpreter, const std::vector<at::IValue>& inputs,
                      NodeId reached, ModelState state)
{
    const auto relevant = ancestors(interpreter.graph(), reached);
    NodeId found;
    const Tap tap = [&](ValueRef ref, const Node& node, const at::IValue& value) -> Result<void> {
        const bool counts = node.kind == NodeKind::Op && node.target != kObserveTarget;
        if (!counts || !relevant.contains(ref.node) || !holdsNonFinite(value))
            return {};
        found = ref.node;
        return fail(ErrorCode::Numeric, "found");
    };
    const auto stopped = interpreter.run(inputs, tap, {}, &state);
    return stopped || !found ? reached : found;
}

} // namespace qs
