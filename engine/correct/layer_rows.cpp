// SPDX-License-Identifier: Apache-2.0
#include "engine/correct/layer_rows.h"

#include "engine/base/text.h"
#include "engine/edit/edit_draft.h"
#include "engine/prepare/weighted_op.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

constexpr double kGoldenRatio = 0.6180339887498949; ///< steps of this share meet no period

/// The integers of an argument, one for each of so many dimensions.
std::optional<std::vector<std::int64_t>> dimensionsOf(const Node& node, const char* name,
                                                      std::size_t count, std::int64_t usual)
{
    const Argument* argument = node.tryArg(name);
    if (!argument)
        return std::vector<std::int64_t>(count, usual);
    if (const auto* one = argument->asInt())
        return std::vector<std::int64_t>(count, *one);
    const auto* list = argument->asList();
    if (!list)
        return std::nullopt;
    std::vector<std::int64_t> values;
    for (const Argument& item : *list) {
        const auto* value = item.asInt();
        if (!value)
            return std::nullopt;
        values.push_back(*value);
    }
    if (values.size() == 1)
        values.resize(count, values[0]);
    return values.size() == count ? std::optional(values) : std::nullopt;
}

/// The padding of "same" and "valid", as numbers.
std::optional<std::vector<std::int64_t>> paddingOf(const Node& node, const at::Tensor& weight,
                                                   const std::vector<std::int64_t>& dilation)
{
    const Argument* argument = node.tryArg("padding");
    const std::string* word = argument ? argument->asString() : nullptr;
    if (!word)
        return dimensionsOf(node, "padding", dilation.size(), 0);
    std::vector<std::int64_t> padding(dilation.size(), 0);
    for (std::size_t d = 0; *word == "same" && d < padding.size(); ++d) {
        const std::int64_t both = dilation[d] * (weight.size(std::int64_t(d) + 2) - 1);
        if (both % 2 != 0)
            return std::nullopt;
        padding[d] = both / 2;
    }
    return padding;
}

/// Indices of at most `most` of `all` rows.
at::Tensor spreadRows(std::int64_t all, std::int64_t most)
{
    if (all <= most)
        return at::arange(all, at::kLong);
    const at::Tensor shares = at::arange(most, at::kDouble) * kGoldenRatio;
    return ((shares - shares.floor()) * double(all)).to(at::kLong).clamp_max(all - 1);
}

/// A convolution's input where each output position reads it: [samples, positions ..., groups,
/// channels of a group, kernel ...], a view.
at::Tensor patches(const LayerShape& shape, const at::Tensor& weight, const at::Tensor& input,
                   const at::Tensor& output)
{
    const std::size_t dims = shape.stride.size();
    std::vector<std::int64_t> pads;
    for (std::size_t d = dims; d-- > 0;) {
        pads.push_back(shape.padding[d]);
        pads.push_back(shape.padding[d]);
    }
    const at::Tensor padded = at::constant_pad_nd(input, pads).contiguous();
    std::vector<std::int64_t> sizes {input.size(0)}, strides {padded.stride(0)};
    for (std::size_t d = 0; d < dims; ++d) {
        sizes.push_back(output.size(std::int64_t(d) + 2));
        strides.push_back(padded.stride(std::int64_t(d) + 2) * shape.stride[d]);
    }
    sizes.insert(sizes.end(), {shape.groups, weight.size(1)});
    strides.insert(strides.end(), {padded.stride(1) * weight.size(1), padded.stride(1)});
    for (std::size_t d = 0; d < dims; ++d) {
        sizes.push_back(weight.size(std::int64_t(d) + 2));
        strides.push_back(padded.stride(std::int64_t(d) + 2) * shape.dilation[d]);
    }
    return padded.as_strided(sizes, strides);
}

} // namespace

Result<LayerShape> layerShape(const Node& node, const at::Tensor& weight)
{
    const auto op = weightedOp(node);
    LayerShape shape;
    if (op && op->kind == WeightedOp::Kind::Linear && weight.dim() == 2)
        return shape;
    const std::size_t dims = weight.dim() > 2 ? std::size_t(weight.dim()) - 2 : 0;
    if (!op || op->kind != WeightedOp::Kind::Convolution || dims == 0)
        return refuse(inQuotes(node.name) + " is neither a linear nor an ordinary convolution");
    shape.isLinear = false;
    const auto groups = dimensionsOf(node, "groups", 1, 1);
    const auto stride = dimensionsOf(node, "stride", dims, 1);
    const auto dilation = dimensionsOf(node, "dilation", dims, 1);
    const auto padding = dilation ? paddingOf(node, weight, *dilation) : std::nullopt;
    if (!groups || !stride || !padding)
        return refuse(inQuotes(node.name) + " is padded differently on its sides");
    shape.groups = groups->front();
    shape.stride = *stride;
    shape.padding = *padding;
    shape.dilation = *dilation;
    return shape;
}

LayerRows layerRows(const LayerShape& shape, const at::Tensor& weight, const at::Tensor& input,
                    const at::Tensor& output, std::int64_t most)
{
    if (shape.isLinear) {
        const at::Tensor inputs = input.reshape({-1, input.size(-1)});
        const at::Tensor outputs = output.reshape({-1, output.size(-1)});
        const at::Tensor rows = spreadRows(inputs.size(0), most);
        return {inputs.index_select(0, rows).unsqueeze(0),
                outputs.index_select(0, rows).unsqueeze(0)};
    }
    const bool isSingle = input.dim() == weight.dim() - 1; // a sample without its dimension
    const at::Tensor batch = isSingle ? input.unsqueeze(0) : input;
    const at::Tensor results = (isSingle ? output.unsqueeze(0) : output).movedim(1, -1);
    std::vector<std::int64_t> places(results.sizes().begin(), results.sizes().end() - 1);
    std::int64_t all = 1;
    for (const std::int64_t size : places)
        all *= size;
    at::Tensor rest = spreadRows(all, most);
    c10::List<std::optional<at::Tensor>> index;
    std::vector<at::Tensor> byPlace(places.size());
    for (std::size_t d = places.size(); d-- > 0;) {
        byPlace[d] = rest.remainder(places[d]);
        rest = rest.floor_divide(places[d]);
    }
    for (const at::Tensor& one : byPlace)
        index.push_back(one);
    const at::Tensor read
        = at::index(patches(shape, weight, batch, isSingle ? output.unsqueeze(0) : output), index);
    const at::Tensor made = at::index(results, index);
    return {read.flatten(2).transpose(0, 1).contiguous(),
            made.reshape({made.size(0), shape.groups, -1}).transpose(0, 1).contiguous()};
}

at::Tensor groupedWeight(const LayerShape& shape, const at::Tensor& weight)
{
    return weight.reshape({shape.groups, weight.size(0) / shape.groups, -1});
}

} // namespace qs
