// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/reuse.h"

#include "engine/execute/op_table.h"
#include "engine/graph/operators/operators.h"
#include "engine/graph/operators/quantized_target.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>

namespace qs {

namespace {

struct Numbers
{
    double scale = 0;
    std::int64_t zeroPoint = 0, quantMin = 0, quantMax = 0;
    DType dtype = DType::Unknown;
    friend bool operator==(const Numbers&, const Numbers&) = default;
};

std::optional<Numbers> numbersOf(const Node& node)
{
    const Argument* scale = node.tryArg("scale");
    const Argument* zeroPoint = node.tryArg("zero_point");
    const Argument* quantMin = node.tryArg("quant_min");
    const Argument* quantMax = node.tryArg("quant_max");
    const Argument* dtype = node.tryArg("dtype");
    if (!scale || !scale->asDouble() || !zeroPoint || !zeroPoint->asInt() || !quantMin
        || !quantMin->asInt() || !quantMax || !quantMax->asInt() || !dtype || !dtype->asDType())
        return std::nullopt;
    return Numbers {*scale->asDouble(), *zeroPoint->asInt(), *quantMin->asInt(), *quantMax->asInt(),
                    *dtype->asDType()};
}

bool joinable(const at::Tensor& x)
{
    return x.defined() && x.is_cpu() && x.scalar_type() == at::kFloat
        && x.is_non_overlapping_and_dense();
}

} // namespace

JoinedPairs findJoinedPairs(const Graph& graph)
{
    JoinedPairs pairs;
    for (const NodePtr& node : graph.nodes()) {
        if (node->kind != NodeKind::Op || node->target != kQuantizePerTensor)
            continue;
        const auto users = graph.users({node->id, 0});
        const auto numbers = numbersOf(*node);
        const bool eightBits
            = numbers && (numbers->dtype == DType::UInt8 || numbers->dtype == DType::Int8);
        if (!eightBits || users.size() != 1)
            continue;
        const Node& reader = graph.get(users[0].node);
        const Argument* out = reader.tryArg("out_dtype");
        if (reader.target != kDequantizePerTensor || (out && !out->isNone())
            || numbersOf(reader) != numbers)
            continue;
        pairs.quantizes.insert(node->id);
        pairs.dequantizes[reader.id] = kernels::makeFakeQuant(numbers->scale, numbers->zeroPoint,
                                                              numbers->quantMin, numbers->quantMax);
    }
    return pairs;
}

bool runJoined(const JoinedPairs& pairs, const Node& node, Frame& frame, const ReusePolicy& policy)
{
    if (!policy.joinsPairs || at::GradMode::is_enabled() || node.args.empty()
        || !node.args[0].value.asRef())
        return false;
    const at::IValue* value = frame.tryGet(*node.args[0].value.asRef());
    if (!value || !value->isTensor() || !joinable(value->toTensor()))
        return false;
    if (pairs.quantizes.contains(node.id)) {
        frame.set({node.id, 0}, at::IValue(*value));
        return true;
    }
    const auto pair = pairs.dequantizes.find(node.id);
    if (pair == pairs.dequantizes.end())
        return false;
    const bool overwrite = mayOverwriteFirst(node, frame, policy);
    const at::Tensor x = value->toTensor();
    const at::Tensor out = overwrite ? x : at::empty_like(x);
    kernels::fakeQuantCpu(x.const_data_ptr<float>(), x.numel(), pair->second, out.data_ptr<float>(),
                          at::get_num_threads());
    frame.set({node.id, 0}, out);
    return true;
}

std::optional<c10::OperatorHandle> inPlaceOperator(std::string_view target)
{
    if (!hasTrait(target, OperatorTrait::WorksInPlace))
        return std::nullopt;
    const auto overload = target.rfind('.');
    return findOperator(std::string(target.substr(0, overload)) + "_"
                        + std::string(target.substr(overload)));
}

bool mayOverwriteFirst(const Node& node, const Frame& frame, const ReusePolicy& policy)
{
    const ValueRef* first = node.args.empty() ? nullptr : node.args[0].value.asRef();
    if (!first || at::GradMode::is_enabled()
        || std::find(policy.expendable.begin(), policy.expendable.end(), *first)
            == policy.expendable.end())
        return false;
    const at::IValue* value = frame.tryGet(*first);
    if (!value || !value->isTensor())
        return false;
    const at::Tensor& x = value->toTensor();
    return x.defined() && x.layout() == at::kStrided && x.is_floating_point() && x.use_count() == 1
        && x.storage().use_count() == 1 && x.is_non_overlapping_and_dense();
}

} // namespace qs
