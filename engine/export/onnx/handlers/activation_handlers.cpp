// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/onnx_handlers.h"

#include <cmath>
#include <numbers>

namespace qs {

namespace {

std::string input(OnnxCall& c)
{
    return c.in("self", c.resultDType());
}

void relu(OnnxCall& c)
{
    c.give(c.emit("Relu", {input(c)}));
}

void clipTo(OnnxCall& c, double low, double high)
{
    const DType dtype = c.resultDType();
    c.give(c.emit("Clip", {input(c), c.scalar(low, dtype), c.scalar(high, dtype)}));
}

void hardtanh(OnnxCall& c)
{
    clipTo(c, c.number("min_val", -1), c.number("max_val", 1));
}

std::string hardSigmoid(OnnxCall& c, const std::string& x)
{
    return c.emit("HardSigmoid", {x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}});
}

void hardswish(OnnxCall& c)
{
    const std::string x = input(c);
    c.give(c.opset() >= 14 ? c.emit("HardSwish", {x}) : c.emit("Mul", {x, hardSigmoid(c, x)}));
}

void silu(OnnxCall& c)
{
    const std::string x = input(c);
    c.give(c.emit("Mul", {x, c.emit("Sigmoid", {x})}));
}

/// x / 2 * (1 + erf(x / sqrt 2)), or its approximation by tanh.
void gelu(OnnxCall& c)
{
    const std::string x = input(c);
    const DType dtype = c.resultDType();
    const bool isTanh = c.text("approximate", "none") == "tanh";
    if (c.opset() >= 20) {
        c.give(c.emit("Gelu", {x}, {{"approximate", isTanh ? "tanh" : "none"}}));
        return;
    }
    std::string inner;
    if (isTanh) {
        const std::string cube
            = c.emit("Mul", {c.emit("Mul", {c.emit("Mul", {x, x}), x}), c.scalar(0.044715, dtype)});
        inner = c.emit(
            "Tanh",
            {c.emit("Mul",
                    {c.emit("Add", {x, cube}), c.scalar(std::sqrt(2 / std::numbers::pi), dtype)})});
    } else {
        inner = c.emit("Erf", {c.emit("Div", {x, c.scalar(std::numbers::sqrt2, dtype)})});
    }
    const std::string half = c.emit("Mul", {x, c.scalar(0.5, dtype)});
    c.give(c.emit("Mul", {half, c.emit("Add", {inner, c.scalar(1, dtype)})}));
}

void leakyRelu(OnnxCall& c)
{
    c.give(c.emit("LeakyRelu", {input(c)}, {{"alpha", c.number("negative_slope", 0.01)}}));
}

void elu(OnnxCall& c)
{
    if (c.number("scale", 1) != 1 || c.number("input_scale", 1) != 1)
        c.refuse("it scales its input or its output");
    c.give(c.emit("Elu", {input(c)}, {{"alpha", c.number("alpha", 1)}}));
}

void celu(OnnxCall& c)
{
    c.give(c.emit("Celu", {input(c)}, {{"alpha", c.number("alpha", 1)}}));
}

void selu(OnnxCall& c)
{
    c.give(c.emit("Selu", {input(c)},
                  {{"alpha", 1.6732632423543772848170429916717},
                   {"gamma", 1.0507009873554804934193349852946}}));
}

/// One slope per channel; channels are on axis 1.
void prelu(OnnxCall& c)
{
    std::string slope = c.in("weight");
    const int rank = c.rank("self");
    if (c.rank("weight") == 1 && rank > 2) {
        std::vector<std::int64_t> column(std::size_t(rank) - 1, 1);
        column[0] = -1;
        slope = c.reshape(slope, column);
    }
    c.give(c.emit("PRelu", {input(c), slope}));
}

/// Linear above the threshold, as in PyTorch.
void softplus(OnnxCall& c)
{
    const std::string x = input(c);
    const DType dtype = c.resultDType();
    const double beta = c.number("beta", 1), threshold = c.number("threshold", 20);
    const std::string times = beta == 1 ? x : c.emit("Mul", {x, c.scalar(beta, dtype)});
    std::string soft = c.emit("Softplus", {times});
    if (beta != 1)
        soft = c.emit("Div", {soft, c.scalar(beta, dtype)});
    const std::string above = c.emit("Greater", {times, c.scalar(threshold, dtype)});
    c.give(c.emit("Where", {above, x, soft}));
}

void mish(OnnxCall& c)
{
    const std::string x = input(c);
    c.give(c.emit("Mul", {x, c.emit("Tanh", {c.emit("Softplus", {x})})}));
}

void logSigmoid(OnnxCall& c)
{
    c.give(c.emit("Neg", {c.emit("Softplus", {c.emit("Neg", {input(c)})})}));
}

void softsign(OnnxCall& c)
{
    c.give(c.emit("Softsign", {input(c)}));
}

void shrink(OnnxCall& c, bool soft)
{
    const double lambda = c.number("lambd", 0.5);
    c.give(c.emit("Shrink", {input(c)}, {{"lambd", lambda}, {"bias", soft ? lambda : 0.0}}));
}

void threshold(OnnxCall& c)
{
    const std::string x = input(c);
    const DType dtype = c.resultDType();
    c.give(c.emit("Where",
                  {c.emit("Greater", {x, c.in("threshold", dtype)}), x, c.in("value", dtype)}));
}

/// The first half of a dimension times the sigmoid of the second.
void glu(OnnxCall& c)
{
    const std::int64_t axis = c.axis("dim", -1);
    const auto size = c.fixedSize("self", axis);
    if (!size) {
        c.refuse("the dimension that it halves is open");
        return;
    }
    const auto halves
        = c.emitMany("Split", {input(c), c.ints({*size / 2, *size / 2})}, 2, {{"axis", axis}});
    c.give(c.emit("Mul", {halves[0], c.emit("Sigmoid", {halves[1]})}));
}

void softmax(OnnxCall& c, const char* op)
{
    const Argument* wanted = c.given("dtype");
    const DType dtype = wanted && wanted->asDType() ? *wanted->asDType() : c.resultDType();
    const std::string x = c.in("self", dtype);
    c.give(c.emit(op, {x}, {{"axis", c.integer("dim", -1)}}));
}

} // namespace

void addActivationHandlers(OnnxHandlers& table)
{
    table["relu"] = relu;
    table["relu6"] = [](OnnxCall& c) { clipTo(c, 0, 6); };
    table["hardtanh"] = hardtanh;
    table["hardsigmoid"] = [](OnnxCall& c) { c.give(hardSigmoid(c, input(c))); };
    table["hardswish"] = hardswish;
    table["silu"] = silu;
    table["gelu"] = gelu;
    table["leaky_relu"] = leakyRelu;
    table["elu"] = elu;
    table["celu"] = celu;
    table["selu"] = selu;
    table["prelu"] = table["_prelu_kernel"] = prelu;
    table["softplus"] = softplus;
    table["mish"] = mish;
    table["log_sigmoid"] = logSigmoid;
    table["softsign"] = softsign;
    table["hardshrink"] = [](OnnxCall& c) { shrink(c, false); };
    table["softshrink"] = [](OnnxCall& c) { shrink(c, true); };
    table["threshold"] = threshold;
    table["glu"] = glu;
    table["softmax"] = table["_softmax"] = table["_safe_softmax"]
        = [](OnnxCall& c) { softmax(c, "Softmax"); };
    table["log_softmax"] = table["_log_softmax"] = [](OnnxCall& c) { softmax(c, "LogSoftmax"); };
}

} // namespace qs
