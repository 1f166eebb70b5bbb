// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/onnx_handlers.h"

#include <string>

namespace qs {

namespace {

/// An argument as one number per spatial dimension; a single number applies to all.
std::vector<std::int64_t> perDimension(OnnxCall& c, const char* name, std::int64_t otherwise,
                                       std::size_t spatial)
{
    std::vector<std::int64_t> values = c.integers(name, {otherwise});
    if (values.size() == 1)
        values.resize(spatial, values[0]);
    if (values.size() != spatial) {
        c.refuse("its '" + std::string(name) + "' does not fit its weight");
        values.assign(spatial, otherwise);
    }
    return values;
}

struct Convolution
{
    std::size_t spatial = 2;
    std::vector<std::int64_t> kernel, stride, dilation, padding; ///< padding: before, then after
};

/// Paddings before and after. Padding "same" puts an odd element at the end.
std::vector<std::int64_t> paddings(OnnxCall& c, const Convolution& conv)
{
    const std::string word = c.text("padding");
    std::vector<std::int64_t> before, after;
    if (word.empty()) {
        before = after = perDimension(c, "padding", 0, conv.spatial);
    } else {
        for (std::size_t i = 0; i < conv.spatial; ++i) {
            const std::int64_t all = word == "same" ? conv.dilation[i] * (conv.kernel[i] - 1) : 0;
            before.push_back(all / 2);
            after.push_back(all - all / 2);
        }
    }
    before.insert(before.end(), after.begin(), after.end());
    return before;
}

Convolution readConvolution(OnnxCall& c)
{
    Convolution conv;
    const int rank = c.rank("weight");
    conv.spatial = std::size_t(std::max(rank - 2, 1));
    for (int dim = 2; dim < rank; ++dim) {
        const auto size = c.fixedSize("weight", dim);
        if (!size)
            c.refuse("the size of its kernel is open");
        conv.kernel.push_back(size.value_or(1));
    }
    conv.kernel.resize(conv.spatial, 1);
    conv.stride = perDimension(c, "stride", 1, conv.spatial);
    conv.dilation = perDimension(c, "dilation", 1, conv.spatial);
    conv.padding = paddings(c, conv);
    return conv;
}

OnnxAttributes attributesOf(OnnxCall& c, const Convolution& conv)
{
    return {{"kernel_shape", conv.kernel},
            {"strides", conv.stride},
            {"dilations", conv.dilation},
            {"pads", conv.padding},
            {"group", c.integer("groups", 1)}};
}

void emitConvolution(OnnxCall& c, const char* op, const Convolution& conv,
                     OnnxAttributes attributes)
{
    // A single sample without a batch dimension.
    const bool lone = std::size_t(c.rank("input")) == conv.spatial + 1;
    std::string x = c.in("input");
    if (lone)
        x = c.unsqueeze(x, {0});
    std::vector<std::string> inputs {x, c.in("weight")};
    if (c.has("bias"))
        inputs.push_back(c.in("bias"));
    const std::string made = c.emit(op, std::move(inputs), std::move(attributes));
    c.give(lone ? c.squeeze(made, {0}) : made);
}

void convolve(OnnxCall& c)
{
    const Convolution conv = readConvolution(c);
    emitConvolution(c, "Conv", conv, attributesOf(c, conv));
}

void convolveTransposed(OnnxCall& c)
{
    const Convolution conv = readConvolution(c);
    OnnxAttributes attributes = attributesOf(c, conv);
    attributes.emplace_back("output_padding", perDimension(c, "output_padding", 0, conv.spatial));
    emitConvolution(c, "ConvTranspose", conv, std::move(attributes));
}

void convolveEither(OnnxCall& c)
{
    if (c.flag("transposed", false))
        convolveTransposed(c);
    else
        convolve(c);
}

} // namespace

void addConvolutionHandlers(OnnxHandlers& table)
{
    table["conv1d"] = table["conv2d"] = table["conv3d"] = convolve;
    table["conv_transpose1d"] = table["conv_transpose2d"] = table["conv_transpose3d"]
        = convolveTransposed;
    table["convolution"] = table["_convolution"] = convolveEither;
}

} // namespace qs
