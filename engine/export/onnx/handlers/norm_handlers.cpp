// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/torch_types.h"
#include "engine/export/onnx/onnx_handlers.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

constexpr double kEps = 1e-5;

/// The argument, or if it is not given `count` elements of `value`.
std::string orConstant(OnnxCall& c, const char* name, std::optional<std::int64_t> count,
                       double value)
{
    if (c.has(name))
        return c.in(name);
    if (!count) {
        c.refuse(std::string("it has no '") + name + "' and its number of channels is open");
        return {};
    }
    return c.constant(at::full({*count}, value, at::kFloat), value == 0 ? "zeros" : "ones");
}

/// (x - mean) / sqrt(variance + eps) over some axes.
std::string normalized(OnnxCall& c, const std::string& x, const std::vector<std::int64_t>& axes,
                       double eps)
{
    const std::string centred = c.emit("Sub", {x, c.reduce("ReduceMean", x, axes, true)});
    const std::string variance
        = c.reduce("ReduceMean", c.emit("Mul", {centred, centred}), axes, true);
    return c.emit(
        "Div",
        {centred, c.emit("Sqrt", {c.emit("Add", {variance, c.scalar(eps, DType::Float32)})})});
}

std::string scaledAndShifted(OnnxCall& c, std::string x)
{
    if (c.has("weight"))
        x = c.emit("Mul", {x, c.in("weight")});
    return c.has("bias") ? c.emit("Add", {x, c.in("bias")}) : x;
}

/// A vector with one element per channel, reshaped to broadcast with a value of `rank` dimensions
/// whose channels are on axis 1.
std::string column(OnnxCall& c, const char* name, int rank)
{
    std::vector<std::int64_t> axes;
    for (int axis = 1; axis < rank - 1; ++axis)
        axes.push_back(axis);
    return c.unsqueeze(c.in(name), axes);
}

/// Normalizes each channel by its mean and variance over the batch.
void batchStatisticsNorm(OnnxCall& c, const char* input)
{
    const int rank = c.rank(input);
    std::vector<std::int64_t> axes {0};
    for (int axis = 2; axis < rank; ++axis)
        axes.push_back(axis);
    std::string made = normalized(c, c.in(input), axes, c.number("eps", kEps));
    if (c.has("weight"))
        made = c.emit("Mul", {made, column(c, "weight", rank)});
    if (c.has("bias"))
        made = c.emit("Add", {made, column(c, "bias", rank)});
    c.give(made);
}

void batchNorm(OnnxCall& c)
{
    const char* input = c.has("input") ? "input" : "self";
    if (!c.has("running_mean")) { // track_running_stats=False: statistics of the batch
        batchStatisticsNorm(c, input);
        return;
    }
    if (c.flag("training", false))
        c.refuse("it is in training mode");
    const auto channels = c.fixedSize("running_mean", 0);
    c.give(c.emit("BatchNormalization",
                  {c.in(input), orConstant(c, "weight", channels, 1),
                   orConstant(c, "bias", channels, 0), c.in("running_mean"), c.in("running_var")},
                  {{"epsilon", c.number("eps", kEps)}}));
}

void layerNorm(OnnxCall& c)
{
    const std::vector<std::int64_t> shape = c.integers("normalized_shape");
    const double eps = c.number("eps", kEps);
    const std::string x = c.in("input");
    const std::int64_t first = -std::int64_t(shape.size());
    if (c.opset() < 17) {
        std::vector<std::int64_t> axes;
        for (std::int64_t axis = first; axis < 0; ++axis)
            axes.push_back(axis);
        c.give(scaledAndShifted(c, normalized(c, x, axes, eps)));
        return;
    }
    std::vector<std::string> inputs {
        x, c.has("weight") ? c.in("weight") : c.constant(at::ones(shape), "ones")};
    if (c.has("bias"))
        inputs.push_back(c.in("bias"));
    c.give(c.emit("LayerNormalization", std::move(inputs), {{"axis", first}, {"epsilon", eps}}));
}

/// x / sqrt(mean(x^2) + eps) * weight.
void rmsNorm(OnnxCall& c)
{
    const std::vector<std::int64_t> shape = c.integers("normalized_shape");
    std::vector<std::int64_t> axes;
    for (std::int64_t axis = -std::int64_t(shape.size()); axis < 0; ++axis)
        axes.push_back(axis);
    const std::string x = c.in("input");
    const std::string mean = c.reduce("ReduceMean", c.emit("Mul", {x, x}), axes, true);
    const std::string root = c.emit(
        "Sqrt",
        {c.emit("Add", {mean, c.scalar(c.number("eps", 1.1920928955078125e-07), DType::Float32)})});
    c.give(scaledAndShifted(c, c.emit("Div", {x, root})));
}

/// Reshapes groups to instances, which InstanceNormalization normalizes separately.
void groupNorm(OnnxCall& c)
{
    const int rank = c.rank("input");
    const std::int64_t groups = c.integer(c.has("group") ? "group" : "num_groups", 1);
    const std::string x = c.in("input");
    const std::string flat = c.reshape(x, {0, groups, -1});
    std::string made = c.emit(
        "InstanceNormalization",
        {flat, c.constant(at::ones({groups}), "ones"), c.constant(at::zeros({groups}), "zeros")},
        {{"epsilon", c.number("eps", kEps)}});
    made = c.emit("Reshape", {made, c.emit("Shape", {x})});
    if (c.has("weight"))
        made = c.emit("Mul", {made, column(c, "weight", rank)});
    if (c.has("bias"))
        made = c.emit("Add", {made, column(c, "bias", rank)});
    c.give(made);
}

void instanceNorm(OnnxCall& c)
{
    if (!c.flag("use_input_stats", true)) {
        batchNorm(c);
        return;
    }
    const auto channels = c.fixedSize("input", 1);
    c.give(c.emit(
        "InstanceNormalization",
        {c.in("input"), orConstant(c, "weight", channels, 1), orConstant(c, "bias", channels, 0)},
        {{"epsilon", c.number("eps", kEps)}}));
}

} // namespace

void addNormHandlers(OnnxHandlers& table)
{
    for (const char* name : {"batch_norm", "_native_batch_norm_legit_no_training",
                             "_native_batch_norm_legit", "native_batch_norm", "cudnn_batch_norm"})
        table[name] = batchNorm;
    table["layer_norm"] = table["native_layer_norm"] = layerNorm;
    table["rms_norm"] = rmsNorm;
    table["group_norm"] = table["native_group_norm"] = groupNorm;
    table["instance_norm"] = instanceNorm;
}

} // namespace qs
