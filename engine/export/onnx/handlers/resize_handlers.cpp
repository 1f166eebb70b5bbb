// SPDX-License-Identifier: Apache-2.0
// Resizing and resampling of images.
#include "engine/execute/torch_types.h"
#include "engine/export/onnx/onnx_handlers.h"

#include <ATen/ATen.h>

#include <string>

namespace qs {

namespace {

enum class Method
{
    Nearest,
    NearestExact,
    Linear,
    Cubic
};

std::size_t resizedDimensions(const std::string& target)
{
    const auto digit = target.find("d.");
    return digit == std::string::npos || digit == 0 ? 2 : std::size_t(target[digit - 1] - '0');
}

/// Scale factors given in the call, one per dimension; they determine the coordinates.
std::vector<double> factors(OnnxCall& c, std::size_t spatial)
{
    std::vector<double> given;
    if (const Argument* list = c.given("scale_factors"); list && list->asList()) {
        for (const Argument& item : *list->asList()) {
            if (const double* value = item.asDouble())
                given.push_back(*value);
            else if (const auto whole = c.fixed(item))
                given.push_back(double(*whole));
        }
    } else {
        for (const char* name : {"scales_d", "scales_h", "scales_w", "scales"})
            if (c.has(name))
                given.push_back(c.number(name, 1));
    }
    if (given.size() == 1)
        given.resize(spatial, given[0]);
    return given.size() == spatial ? given : std::vector<double>();
}

std::string coordinates(OnnxCall& c, Method method)
{
    if (method == Method::Nearest)
        return "asymmetric";
    if (method == Method::NearestExact)
        return "half_pixel";
    return c.flag("align_corners", false) ? "align_corners" : "pytorch_half_pixel";
}

OnnxAttributes attributesOf(OnnxCall& c, Method method)
{
    OnnxAttributes attributes {{"coordinate_transformation_mode", coordinates(c, method)},
                               {"mode",
                                method == Method::Linear      ? "linear"
                                    : method == Method::Cubic ? "cubic"
                                                              : "nearest"}};
    if (method == Method::Nearest)
        attributes.emplace_back("nearest_mode", "floor");
    if (method == Method::NearestExact)
        attributes.emplace_back("nearest_mode", "round_prefer_ceil");
    if (method == Method::Cubic)
        attributes.emplace_back("cubic_coeff_a", -0.75);
    if (c.node().target.find("_aa.") != std::string::npos) {
        if (c.opset() < 18)
            c.refuse("smoothing while it shrinks needs operator set 18");
        attributes.emplace_back("antialias", 1);
    }
    return attributes;
}

void resize(OnnxCall& c, Method method)
{
    const std::size_t spatial = resizedDimensions(c.node().target);
    const std::string x = c.in(c.has("input") ? "input" : "self");
    std::vector<std::string> inputs {x, ""};
    const std::vector<double> scales = factors(c, spatial);
    if (!scales.empty()) {
        at::Tensor all = at::ones({std::int64_t(spatial) + 2});
        for (std::size_t i = 0; i < spatial; ++i)
            all[std::int64_t(i) + 2] = scales[i];
        inputs.push_back(c.constant(all, "scales"));
    } else if (const Argument* wanted = c.given("output_size")) {
        const std::string kept = c.slice(c.emit("Shape", {x}), 0, 0, 2);
        inputs.push_back("");
        inputs.push_back(c.emit("Concat", {kept, c.sizes(*wanted)}, {{"axis", 0}}));
    } else {
        c.refuse("neither a size nor factors are given");
        return;
    }
    c.give(c.emit("Resize", std::move(inputs), attributesOf(c, method)));
}

/// Indices of the elements of all windows of one dimension: [kernel, windows].
std::optional<at::Tensor> windows(std::int64_t size, std::int64_t kernel, std::int64_t dilation,
                                  std::int64_t stride)
{
    const std::int64_t count = (size - dilation * (kernel - 1) - 1) / stride + 1;
    if (count <= 0)
        return std::nullopt;
    const at::Tensor inside = at::arange(kernel, at::kLong).mul(dilation).unsqueeze(1);
    return inside + at::arange(count, at::kLong).mul(stride).unsqueeze(0);
}

/// Patches of an image as columns: [N, C * kernel, windows].
void imageToColumns(OnnxCall& c)
{
    const auto pair = [&](const char* name, std::int64_t otherwise) {
        auto values = c.integers(name, {otherwise});
        values.resize(2, values.empty() ? otherwise : values[0]);
        return values;
    };
    const auto kernel = pair("kernel_size", 1), dilation = pair("dilation", 1),
               padding = pair("padding", 0), stride = pair("stride", 1);
    const auto channels = c.fixedSize("self", 1), height = c.fixedSize("self", 2),
               width = c.fixedSize("self", 3);
    if (c.rank("self") != 4 || !channels || !height || !width) {
        c.refuse("its input is not a batch of images of fixed size");
        return;
    }
    const auto rows = windows(*height + 2 * padding[0], kernel[0], dilation[0], stride[0]);
    const auto columns = windows(*width + 2 * padding[1], kernel[1], dilation[1], stride[1]);
    if (!rows || !columns) {
        c.refuse("its window is larger than the image");
        return;
    }
    std::string x = c.in("self");
    if (padding[0] || padding[1])
        x = c.emit("Pad",
                   {x, c.ints({0, 0, padding[0], padding[1], 0, 0, padding[0], padding[1]})});
    x = c.emit("Gather", {x, c.constant(*rows, "windows")}, {{"axis", 2}});
    x = c.emit("Gather", {x, c.constant(*columns, "windows")}, {{"axis", 4}});
    // [N, C, kernel, windows, kernel, windows]
    c.give(c.reshape(c.transpose(x, {0, 1, 2, 4, 3, 5}),
                     {0, *channels * kernel[0] * kernel[1], rows->size(1) * columns->size(1)}));
}

/// Values sampled at coordinates in [-1, 1].
void gridSample(OnnxCall& c)
{
    if (c.opset() < 16) {
        c.refuse("sampling on a grid needs operator set 16");
        return;
    }
    const bool renamed = c.opset() >= 20;
    const std::int64_t mode = c.integer("interpolation_mode", 0);
    const std::string word = mode == 1 ? "nearest"
        : mode == 2                    ? (renamed ? "cubic" : "bicubic")
                                       : (renamed ? "linear" : "bilinear");
    const std::int64_t padding = c.integer("padding_mode", 0);
    c.give(c.emit("GridSample", {c.in("input"), c.in("grid")},
                  {{"mode", word},
                   {"padding_mode",
                    padding == 1       ? "border"
                        : padding == 2 ? "reflection"
                                       : "zeros"},
                   {"align_corners", c.flag("align_corners", false)}}));
}

/// Adds overlapping patches (columns) to an image.
void columnsToImage(OnnxCall& c)
{
    if (c.opset() < 18)
        c.refuse("it needs operator set 18");
    const std::vector<std::int64_t> padding = c.integers("padding", {0, 0});
    std::vector<std::int64_t> pads = padding;
    pads.insert(pads.end(), padding.begin(), padding.end());
    const bool lone = c.rank("self") == 2;
    const std::string x = lone ? c.unsqueeze(c.in("self"), {0}) : c.in("self");
    const std::string made = c.emit(
        "Col2Im", {x, c.ints(c.integers("output_size")), c.ints(c.integers("kernel_size"))},
        {{"dilations", c.integers("dilation", {1, 1})},
         {"pads", pads},
         {"strides", c.integers("stride", {1, 1})}});
    c.give(lone ? c.squeeze(made, {0}) : made);
}

} // namespace

void addResizeHandlers(OnnxHandlers& table)
{
    for (const char* digit : {"1d", "2d", "3d"}) {
        const std::string end = digit;
        table["upsample_nearest" + end] = [](OnnxCall& c) { resize(c, Method::Nearest); };
        table["_upsample_nearest_exact" + end]
            = [](OnnxCall& c) { resize(c, Method::NearestExact); };
    }
    for (const char* name : {"upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d",
                             "_upsample_bilinear2d_aa"})
        table[name] = [](OnnxCall& c) { resize(c, Method::Linear); };
    for (const char* name : {"upsample_bicubic2d", "_upsample_bicubic2d_aa"})
        table[name] = [](OnnxCall& c) { resize(c, Method::Cubic); };
    table["im2col"] = imageToColumns;
    table["col2im"] = columnsToImage;
    table["grid_sampler"] = table["grid_sampler_2d"] = gridSample;
}

} // namespace qs
