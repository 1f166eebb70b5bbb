// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/grid_product.h"

#include "engine/execute/reuse.h"
#include "engine/prepare/weighted_op.h"

#include <unordered_map>
#include <unordered_set>

namespace qs {

namespace {

/// The operator's input, weight and bias, if it is of a kind that byte kernels exist for.
std::optional<GridProduct> productOf(const Node& node)
{
    const auto op = weightedOp(node);
    const bool isLinear = node.isOp("aten.linear.default");
    if (!op
        || !(isLinear || node.isOp("aten.conv2d.default") || node.isOp("aten.convolution.default"))
        || op->kind == WeightedOp::Kind::TransposedConvolution)
        return std::nullopt;
    GridProduct product;
    product.node = node.id;
    product.isConvolution = !isLinear;
    product.input = argumentRef(node, op->input);
    product.weight = argumentRef(node, op->weight);
    product.bias = argumentRef(node, op->bias);
    const bool whole = product.input && product.weight;
    return whole ? std::optional(product) : std::nullopt;
}

std::optional<std::int64_t> integerOf(const Node& node, std::string_view name)
{
    const Argument* argument = node.tryArg(name);
    const auto* number = argument ? argument->asInt() : nullptr;
    return number ? std::optional(*number) : std::nullopt;
}

std::optional<StoredWeight> storedBehind(const Graph& graph, ValueRef weight)
{
    const Node& node = graph.get(weight.node);
    const Argument* dtype = node.tryArg("dtype");
    if (node.kind != NodeKind::Op || !dtype || !dtype->asDType()
        || *dtype->asDType() != DType::Int8)
        return std::nullopt;
    StoredWeight stored;
    stored.integers = argumentRef(node, "input");
    if (!stored.integers)
        return std::nullopt;
    if (node.isOp("quantized_decomposed.dequantize_per_channel.default")) {
        stored.scales = argumentRef(node, "scales");
        stored.zeroPoints = argumentRef(node, "zero_points");
        const bool byOutput = integerOf(node, "axis") == 0 && stored.scales && stored.zeroPoints;
        return byOutput ? std::optional(stored) : std::nullopt;
    }
    const Argument* scale = node.tryArg("scale");
    if (!node.isOp("quantized_decomposed.dequantize_per_tensor.default") || !scale
        || !scale->asDouble() || integerOf(node, "zero_point") != 0)
        return std::nullopt;
    stored.scale = *scale->asDouble();
    return stored;
}

bool isGrouped(const Node& node)
{
    const auto groups = integerOf(node, "groups");
    return groups && *groups != 1;
}

} // namespace

std::vector<GridProduct> quantizedProducts(const Graph& reference)
{
    const JoinedPairs pairs = findJoinedPairs(reference);
    std::vector<GridProduct> found;
    for (const NodePtr& node : reference.nodes()) {
        auto product = productOf(*node);
        if (!product)
            continue;
        const auto grid = pairs.dequantizes.find(product->input.node);
        product->stored = storedBehind(reference, product->weight);
        if (grid == pairs.dequantizes.end() || !product->stored)
            continue;
        product->grid = grid->second;
        found.push_back(std::move(*product));
    }
    return found;
}

std::vector<GridProduct> floatProducts(const ConvertedModel& converted,
                                       const std::vector<CompareUnit>& units,
                                       const std::vector<GridProduct>& quantized)
{
    std::unordered_map<ValueRef, kernels::FakeQuant> grids; // by value of the reference graph
    std::unordered_set<NodeId> twins; // float nodes whose counterpart is one of `quantized`
    for (const GridProduct& product : quantized) {
        grids[product.input] = product.grid;
        twins.insert({product.node, converted.reference->get(product.node).origin});
    }
    std::vector<GridProduct> found;
    for (const CompareUnit& unit : units)
        for (const NodeId member : unit.members) {
            const Node& node = converted.prepared->model->get(member);
            auto product = twins.contains(member) ? productOf(node) : std::nullopt;
            if (!product || isGrouped(node))
                continue;
            for (const UnitInput& input : unit.inputs)
                if (const auto grid = grids.find(input.read);
                    input.value == product->input && grid != grids.end()) {
                    product->grid = grid->second;
                    found.push_back(*product);
                    break;
                }
        }
    return found;
}

} // namespace qs
