// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/layout.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

namespace qs {

namespace {

bool convolvesImages(const Node& node)
{
    const bool convolution = node.target.starts_with("aten.conv2d.")
        || node.target.starts_with("aten.convolution.")
        || node.target.starts_with("aten._convolution.");
    return convolution && !node.outputs.empty() && node.outputs[0].type.shape.size() == 4;
}

} // namespace

bool readsStrides(const Node& node)
{
    static constexpr std::array<std::string_view, 13> kNames {
        "as_strided",        "stride",
        "sym_stride",        "is_contiguous",
        "storage_offset",    "set_",
        "_reshape_alias",    "sym_is_contiguous",
        "empty_strided",     "new_empty_strided",
        "view_as_real",      "view_as_complex",
        "sym_storage_offset"};
    if (node.target == "aten.view.dtype" || !node.subgraphs.empty() || !node.opaqueReason.empty())
        return true;
    const auto dot = node.target.find('.');
    const std::string_view rest = std::string_view(node.target).substr(dot + 1);
    const std::string_view name = rest.substr(0, rest.find('.'));
    return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view known) {
        return name == known || name == std::string(known) + "_copy"
            || name == std::string(known) + "_scatter";
    });
}

bool wantsViewableStrides(const Node& node)
{
    return node.target == "aten.view.default" || node.target == "aten._unsafe_view.default";
}

Layout fastLayout(const Graph& graph)
{
    bool images = false;
    for (const NodePtr& node : graph.nodes()) {
        if (readsStrides(*node))
            return Layout::AsGiven;
        images = images || convolvesImages(*node);
    }
    return images ? Layout::ChannelsLast : Layout::AsGiven;
}

at::IValue inLayout(const at::IValue& value, Layout layout)
{
    if (layout == Layout::AsGiven || !value.isTensor())
        return value;
    const at::Tensor& tensor = value.toTensor();
    const bool image
        = tensor.defined() && tensor.is_cpu() && tensor.dim() == 4 && tensor.is_floating_point();
    return image ? at::IValue(tensor.contiguous(at::MemoryFormat::ChannelsLast)) : value;
}

} // namespace qs
