// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of one value.
#include "engine/export/onnx/onnx_handlers.h"

#include <ATen/ATen.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace qs {

namespace {

/// Operators of one argument that ONNX has under another name.
struct Plain
{
    const char* name;
    const char* op;
};
constexpr std::array<Plain, 25> kPlain {{
    {"abs", "Abs"},     {"acos", "Acos"},   {"acosh", "Acosh"},     {"asin", "Asin"},
    {"asinh", "Asinh"}, {"atan", "Atan"},   {"atanh", "Atanh"},     {"ceil", "Ceil"},
    {"cos", "Cos"},     {"cosh", "Cosh"},   {"erf", "Erf"},         {"exp", "Exp"},
    {"floor", "Floor"}, {"isnan", "IsNaN"}, {"log", "Log"},         {"neg", "Neg"},
    {"sign", "Sign"},   {"sin", "Sin"},     {"sinh", "Sinh"},       {"sqrt", "Sqrt"},
    {"tan", "Tan"},     {"tanh", "Tanh"},   {"sigmoid", "Sigmoid"}, {"reciprocal", "Reciprocal"},
    {"isinf", "IsInf"},
}};

const char* plainOp(const std::string& target)
{
    for (const Plain& plain : kPlain)
        if (target.find(std::string(".") + plain.name + ".") != std::string::npos)
            return plain.op;
    return nullptr;
}

void plain(OnnxCall& c)
{
    const char* op = plainOp(c.node().target);
    const DType result = c.resultDType();
    const DType own = result == DType::Bool ? c.dtype("self") : result;
    if (!op)
        c.refuse("it is not known");
    else
        c.give(c.emit(op, {c.in("self", own)}));
}

void rsqrt(OnnxCall& c)
{
    c.give(c.emit("Reciprocal", {c.emit("Sqrt", {c.in("self", c.resultDType())})}));
}

void square(OnnxCall& c)
{
    const std::string x = c.in("self");
    c.give(c.emit("Mul", {x, x}));
}

void round(OnnxCall& c)
{
    if (c.integer("decimals", 0) != 0)
        c.refuse("it rounds to decimals");
    const std::string x = c.in("self");
    c.give(isFloating(c.resultDType()) ? c.emit("Round", {x}) : x);
}

void trunc(OnnxCall& c)
{
    c.give(truncated(c, c.in("self")));
}

/// log(x + shift) / log(base).
void logarithm(OnnxCall& c, double shift, double base)
{
    const DType dtype = c.resultDType();
    std::string x = c.in("self", dtype);
    if (shift != 0)
        x = c.emit("Add", {x, c.scalar(shift, dtype)});
    x = c.emit("Log", {x});
    c.give(base == std::numbers::e ? x : c.emit("Div", {x, c.scalar(std::log(base), dtype)}));
}

void expm1(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    c.give(c.emit("Sub", {c.emit("Exp", {c.in("self", dtype)}), c.scalar(1, dtype)}));
}

void exp2(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    c.give(c.emit("Pow", {c.scalar(2, dtype), c.in("self", dtype)}));
}

void isFinite(OnnxCall& c)
{
    const std::string x = c.in("self", DType::Float32);
    c.give(c.emit("Not", {c.emit("Or", {c.emit("IsNaN", {x}), c.emit("IsInf", {x})})}));
}

void nanToNum(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const std::string x = c.in("self", dtype);
    const double largest = dtype == DType::Float16 ? 65504.0
        : dtype == DType::Float64                  ? std::numeric_limits<double>::max()
                                                   : double(std::numeric_limits<float>::max());
    const std::string real
        = c.emit("Where", {c.emit("IsNaN", {x}), c.scalar(c.number("nan", 0), dtype), x});
    c.give(c.emit("Clip",
                  {real, c.scalar(c.number("neginf", -largest), dtype),
                   c.scalar(c.number("posinf", largest), dtype)}));
}

void fraction(OnnxCall& c)
{
    const std::string x = c.in("self");
    c.give(c.emit("Sub", {x, truncated(c, x)}));
}

/// log(x / (1 - x)), with x clamped to [eps, 1 - eps].
void logit(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    std::string x = c.in("self", dtype);
    if (c.has("eps")) {
        const double eps = c.number("eps", 0);
        x = c.emit("Clip", {x, c.scalar(eps, dtype), c.scalar(1 - eps, dtype)});
    }
    const std::string rest = c.emit("Sub", {c.scalar(1, dtype), x});
    c.give(c.emit("Log", {c.emit("Div", {x, rest})}));
}

} // namespace

void addFunctionHandlers(OnnxHandlers& table)
{
    for (const Plain& one : kPlain)
        table[one.name] = plain;
    table["rsqrt"] = rsqrt;
    table["square"] = square;
    table["round"] = round;
    table["trunc"] = table["fix"] = trunc;
    table["log1p"] = [](OnnxCall& c) { logarithm(c, 1, std::numbers::e); };
    table["log2"] = [](OnnxCall& c) { logarithm(c, 0, 2); };
    table["log10"] = [](OnnxCall& c) { logarithm(c, 0, 10); };
    table["expm1"] = expm1;
    table["exp2"] = exp2;
    table["frac"] = fraction;
    table["logit"] = table["special_logit"] = logit;
    table["isfinite"] = isFinite;
    table["nan_to_num"] = nanToNum;
}

} // namespace qs
