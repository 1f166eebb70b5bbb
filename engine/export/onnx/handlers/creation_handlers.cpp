// SPDX-License-Identifier: Apache-2.0
// New tensors whose sizes or values depend on the model's inputs; other new tensors are constants.
#include "engine/execute/torch_types.h"
#include "engine/export/onnx/onnx_handlers.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

const Argument* sizesOf(OnnxCall& c)
{
    const Argument* sizes = c.given("size") ? c.given("size") : c.given("shape");
    if (!sizes)
        c.refuse("its sizes are missing");
    return sizes;
}

void filled(OnnxCall& c, const std::string& number, const std::string& sizes)
{
    c.give(c.emit("Expand", {number, sizes}));
}

void fill(OnnxCall& c, double value)
{
    if (const Argument* sizes = sizesOf(c))
        filled(c, c.scalar(value, c.resultDType()), c.sizes(*sizes));
}

void full(OnnxCall& c)
{
    if (const Argument* sizes = sizesOf(c))
        filled(c, c.in("fill_value", c.resultDType()), c.sizes(*sizes));
}

void fillLike(OnnxCall& c, double value)
{
    filled(c, c.scalar(value, c.resultDType()), c.emit("Shape", {c.in("self")}));
}

void fullLike(OnnxCall& c)
{
    filled(c, c.in("fill_value", c.resultDType()), c.emit("Shape", {c.in("self")}));
}

/// `aten.fill` and `aten.copy`: new values in the shape of the first argument.
void fillWith(OnnxCall& c)
{
    filled(c, c.in("value", c.resultDType()), c.emit("Shape", {c.in("self")}));
}

void copyInto(OnnxCall& c)
{
    filled(c, c.in("src", c.resultDType()), c.emit("Shape", {c.in("self")}));
}

void range(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const DType counted = dtype == DType::Int32 || dtype == DType::Int64 || dtype == DType::Float64
        ? dtype
        : isFloating(dtype) ? DType::Float32
                            : DType::Int64;
    const auto number = [&](const char* name, double otherwise) {
        const Argument* given = c.given(name);
        return given ? c.emit("Reshape", {c.value(*given, counted), c.ints({})})
                     : c.scalar(otherwise, counted);
    };
    const std::string made
        = c.emit("Range", {number("start", 0), number("end", 0), number("step", 1)});
    c.give(counted == dtype ? made : c.cast(made, dtype));
}

void scalarTensor(OnnxCall& c)
{
    const char* name = c.has("s") ? "s" : c.has("t") ? "t" : "a";
    const Argument* value = c.given(name);
    if (!value)
        c.refuse("its number is missing");
    else
        c.give(c.value(*value, c.resultDType()));
}

/// Ones on the diagonal.
void eye(OnnxCall& c)
{
    const Argument* n = c.given("n");
    const Argument* m = c.given("m") ? c.given("m") : n;
    if (!n) {
        c.refuse("its size is missing");
        return;
    }
    const std::string square = c.emit(
        "Expand",
        {c.scalar(0, DType::Float32), c.emit("Concat", {c.size(*n), c.size(*m)}, {{"axis", 0}})});
    c.give(c.emit("EyeLike", {square}, {{"dtype", onnxTypeNumber(c.resultDType())}}));
}

/// One-hot vectors of class indices.
void oneHot(OnnxCall& c)
{
    const std::int64_t classes = c.integer("num_classes", -1);
    if (classes <= 0) {
        c.refuse("its number of classes is open");
        return;
    }
    c.give(c.emit("OneHot", {c.in("self"), c.ints({classes}), c.ints({0, 1})}, {{"axis", -1}}));
}

/// Evenly spaced numbers from start to end, both included.
void linspace(OnnxCall& c)
{
    const Argument* steps = c.given("steps");
    if (!steps) {
        c.refuse("its number of steps is missing");
        return;
    }
    const std::string start = c.in("start", DType::Float32), end = c.in("end", DType::Float32);
    const std::string count
        = c.emit("Reshape", {c.cast(c.size(*steps), DType::Float32), c.ints({})});
    const std::string one = c.scalar(1, DType::Float32);
    const std::string places = c.emit("Range", {c.scalar(0, DType::Float32), count, one});
    const std::string gap
        = c.emit("Div", {c.emit("Sub", {end, start}), c.emit("Sub", {count, one})});
    const std::string made = c.emit("Add", {start, c.emit("Mul", {places, gap})});
    c.give(c.resultDType() == DType::Float32 ? made : c.cast(made, c.resultDType()));
}

} // namespace

void addCreationHandlers(OnnxHandlers& table)
{
    table["zeros"] = table["new_zeros"] = table["empty"] = table["new_empty"]
        = [](OnnxCall& c) { fill(c, 0); };
    table["ones"] = table["new_ones"] = [](OnnxCall& c) { fill(c, 1); };
    table["full"] = table["new_full"] = full;
    table["zeros_like"] = table["empty_like"] = table["aten.zero.default"]
        = [](OnnxCall& c) { fillLike(c, 0); };
    table["ones_like"] = [](OnnxCall& c) { fillLike(c, 1); };
    table["full_like"] = fullLike;
    table["fill"] = fillWith;
    table["copy"] = copyInto;
    table["arange"] = range;
    table["scalar_tensor"] = table["aten.tensor.int"] = table["aten.tensor.float"]
        = table["aten.tensor.bool"] = scalarTensor;
    table["eye"] = eye;
    table["one_hot"] = oneHot;
    table["linspace"] = linspace;
}

} // namespace qs
