// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/products/grid_product.h"

#include "engine/convert/lowering/lowering_ops.h"
#include "engine/execute/reuse.h"
#include "engine/graph/argument_number.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/prepare/weighted_op.h"

#include <unordered_map>
#include <unordered_set>

namespace qs {

namespace {

Result<ConvGeometry> geometryOf(const Node& node, const ValueType& weight)
{
    const auto list = [&](const char* name) -> Result<std::vector<std::int64_t>> {
        QS_TRY(const Argument::List items, convolutionList(node, weight, name, 2));
        return std::vector {*items[0].asInt(), *items[1].asInt()};
    };
    ConvGeometry geometry;
    QS_TRY(geometry.stride, list("stride"));
    QS_TRY(geometry.padding, list("padding"));
    QS_TRY(geometry.dilation, list("dilation"));
    Argument groups;
    if (effectiveArgument(node, "groups", groups) && groups.asInt())
        geometry.groups = *groups.asInt();
    return geometry;
}

/// Input, weight, bias and geometry of an operator of a kind that byte kernels exist for.
std::optional<GridProduct> productOf(const Graph& graph, const Node& node)
{
    const auto op = weightedOp(node);
    const bool isLinear = node.isOp(kLinearTarget);
    if (!op
        || !(isLinear || node.isOp("aten.conv2d.default") || node.isOp("aten.convolution.default"))
        || op->kind == WeightedOp::Kind::TransposedConvolution)
        return std::nullopt;
    GridProduct product;
    product.node = node.id;
    product.input = argumentRef(node, op->input);
    product.weight = argumentRef(node, op->weight);
    product.bias = argumentRef(node, op->bias);
    if (!product.input || !product.weight)
        return std::nullopt;
    if (isLinear)
        return product;
    auto geometry = geometryOf(node, graph.value(product.weight).type);
    if (!geometry)
        return std::nullopt;
    product.geometry = std::move(*geometry);
    return product;
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
    if (node.isOp(kDequantizePerChannel)) {
        stored.scales = argumentRef(node, "scales");
        stored.zeroPoints = argumentRef(node, "zero_points");
        const bool byOutput
            = numberOf(node.tryArg("axis")) == 0 && stored.scales && stored.zeroPoints;
        return byOutput ? std::optional(stored) : std::nullopt;
    }
    const Argument* scale = node.tryArg("scale");
    if (!node.isOp(kDequantizePerTensor) || !scale || !scale->asDouble()
        || numberOf(node.tryArg("zero_point")) != 0)
        return std::nullopt;
    stored.scale = *scale->asDouble();
    return stored;
}

} // namespace

std::vector<GridProduct> quantizedProducts(const Graph& reference)
{
    const JoinedPairs pairs = findJoinedPairs(reference);
    std::vector<GridProduct> found;
    for (const NodePtr& node : reference.nodes()) {
        auto product = productOf(reference, *node);
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
    const Graph& model = *converted.prepared->model;
    std::unordered_map<ValueRef, kernels::FakeQuant> grids; // by value of the reference graph
    std::unordered_set<NodeId> twins; // float nodes whose counterpart is one of `quantized`
    for (const GridProduct& product : quantized) {
        grids[product.input] = product.grid;
        twins.insert({product.node, converted.reference->get(product.node).origin});
    }
    std::vector<GridProduct> found;
    for (const CompareUnit& unit : units)
        for (const NodeId member : unit.members) {
            auto product
                = twins.contains(member) ? productOf(model, model.get(member)) : std::nullopt;
            if (!product || (product->geometry && product->geometry->groups != 1))
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
