// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic of several values, comparisons and casts.
#include "engine/execute/torch_types.h"
#include "engine/export/onnx/onnx_handlers.h"
#include "engine/export/onnx/onnx_word.h"
#include "engine/graph/operators/engine_ops.h"

#include <ATen/ATen.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

namespace qs {

namespace {

/// The other operand times alpha.
std::string scaled(OnnxCall& c, const char* name, DType dtype)
{
    const std::string value = c.in(name, dtype);
    const double alpha = c.number("alpha", 1);
    return alpha == 1 ? value : c.emit("Mul", {value, c.scalar(alpha, dtype)});
}

void add(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    if (dtype == DType::Bool)
        c.give(c.emit("Or", {c.in("self", dtype), c.in("other", dtype)}));
    else
        c.give(c.emit("Add", {c.in("self", dtype), scaled(c, "other", dtype)}));
}

void subtract(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    c.give(c.emit("Sub", {c.in("self", dtype), scaled(c, "other", dtype)}));
}

void reverseSubtract(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    c.give(c.emit("Sub", {c.in("other", dtype), scaled(c, "self", dtype)}));
}

void multiply(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    c.give(
        c.emit(dtype == DType::Bool ? "And" : "Mul", {c.in("self", dtype), c.in("other", dtype)}));
}

/// Python's floor division: (a - a mod b) / b for integers.
std::string floorDivided(OnnxCall& c, const std::string& a, const std::string& b, DType dtype)
{
    if (isFloating(dtype))
        return c.emit("Floor", {c.emit("Div", {a, b})});
    return c.emit("Div", {c.emit("Sub", {a, c.emit("Mod", {a, b})}), b});
}

} // namespace

std::string truncated(OnnxCall& c, const std::string& x)
{
    return c.emit("Mul", {c.emit("Sign", {x}), c.emit("Floor", {c.emit("Abs", {x})})});
}

namespace {

void divide(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const std::string a = c.in("self", dtype), b = c.in("other", dtype);
    const std::string mode = c.text("rounding_mode");
    if (mode == "floor")
        c.give(floorDivided(c, a, b, dtype));
    else if (mode == "trunc" && isFloating(dtype))
        c.give(truncated(c, c.emit("Div", {a, b})));
    else
        c.give(c.emit("Div", {a, b}));
}

void floorDivide(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    c.give(floorDivided(c, c.in("self", dtype), c.in("other", dtype), dtype));
}

/// The remainder with the sign of the divisor, as in Python.
void remainder(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const std::string a = c.in("self", dtype), b = c.in("other", dtype);
    if (!isFloating(dtype))
        c.give(c.emit("Mod", {a, b}));
    else
        c.give(c.emit("Sub", {a, c.emit("Mul", {floorDivided(c, a, b, dtype), b})}));
}

void fmod(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    c.give(c.emit("Mod", {c.in("self", dtype), c.in("other", dtype)}, {{"fmod", 1}}));
}

void power(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const Argument* exponent = c.given("exponent");
    const bool isTwo = exponent
        && ((exponent->asInt() && *exponent->asInt() == 2)
            || (exponent->asDouble() && *exponent->asDouble() == 2));
    if (isTwo) {
        const std::string x = c.in("self", dtype);
        c.give(c.emit("Mul", {x, x}));
        return;
    }
    c.give(c.emit("Pow", {c.in("self", dtype), c.in("exponent", dtype)}));
}

template<char Op>
void addProduct(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const double value = c.number("value", 1);
    const std::string a = c.in("tensor1", dtype), b = c.in("tensor2", dtype);
    std::string product = c.emit(Op == '*' ? "Mul" : "Div", {a, b});
    if (value != 1)
        product = c.emit("Mul", {product, c.scalar(value, dtype)});
    c.give(c.emit("Add", {c.in("self", dtype), product}));
}

/// The angle of (x, y): atan(y / x), plus or minus pi if x is negative.
void arcTangent(OnnxCall& c)
{
    constexpr double kPi = std::numbers::pi;
    const DType dtype = c.resultDType();
    const std::string y = c.in("self", dtype), x = c.in("other", dtype);
    const std::string zero = c.scalar(0, dtype);
    const auto choose = [&](const std::string& condition, double yes, const std::string& no) {
        return c.emit("Where", {condition, c.scalar(yes, dtype), no});
    };
    const std::string below = c.emit("Less", {y, zero});
    const std::string half = choose(below, -kPi, c.scalar(kPi, dtype));
    const std::string turn = c.emit("Where", {c.emit("Less", {x, zero}), half, zero});
    const std::string angle = c.emit("Add", {c.emit("Atan", {c.emit("Div", {y, x})}), turn});
    const std::string flat
        = choose(c.emit("Equal", {y, zero}), 0, choose(below, -kPi / 2, c.scalar(kPi / 2, dtype)));
    c.give(c.emit("Where", {c.emit("Equal", {x, zero}), flat, angle}));
}

/// The length of (x, y).
void hypotenuse(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const std::string x = c.in("self", dtype), y = c.in("other", dtype);
    c.give(c.emit("Sqrt", {c.emit("Add", {c.emit("Mul", {x, x}), c.emit("Mul", {y, y})})}));
}

/// self + weight * (end - self).
void lerp(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const std::string self = c.in("self", dtype);
    c.give(c.emit(
        "Add",
        {self, c.emit("Mul", {c.in("weight", dtype), c.emit("Sub", {c.in("end", dtype), self})})}));
}

/// The type in which two values are compared.
DType comparedType(OnnxCall& c)
{
    const DType a = c.dtype("self"), b = c.dtype("other");
    const Argument* other = c.given("other");
    if (a == DType::Unknown || b == DType::Unknown)
        return DType::Float32;
    if (other && !other->asRef()) {
        if (isFloating(a) || (isWholeNumber(a) && !isFloating(b)))
            return a;
        return b;
    }
    return fromScalarType(c10::promoteTypes(toScalarType(a), toScalarType(b)));
}

template<OnnxWord Op>
void compare(OnnxCall& c)
{
    const DType dtype = comparedType(c);
    c.give(c.emit(Op.text, {c.in("self", dtype), c.in("other", dtype)}));
}

void differs(OnnxCall& c)
{
    const DType dtype = comparedType(c);
    c.give(c.emit("Not", {c.emit("Equal", {c.in("self", dtype), c.in("other", dtype)})}));
}

template<OnnxWord Op>
void both(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    c.give(c.emit(Op.text, {c.in("self", dtype), c.in("other", dtype)}));
}

/// Logical operator for bools, bitwise operator for integers.
template<OnnxWord Logical, OnnxWord Bits>
void logic(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const bool isLogical = dtype == DType::Bool;
    if (!isLogical && c.opset() < 18)
        c.refuse("operations on bits need operator set 18");
    c.give(
        c.emit(isLogical ? Logical.text : Bits.text, {c.in("self", dtype), c.in("other", dtype)}));
}

template<OnnxWord Op>
void truth(OnnxCall& c)
{
    c.give(c.emit(Op.text, {c.in("self", DType::Bool), c.in("other", DType::Bool)}));
}

void logicalNot(OnnxCall& c)
{
    c.give(c.emit("Not", {c.in("self", DType::Bool)}));
}

void bitwiseNot(OnnxCall& c)
{
    if (c.dtype("self") == DType::Bool)
        c.give(c.emit("Not", {c.in("self")}));
    else
        c.give(c.emit("BitwiseNot", {c.in("self")}));
}

void where(OnnxCall& c)
{
    if (!c.has("self")) { // indices where it is true, one result per dimension
        const std::string places = c.emit("NonZero", {c.in("condition", DType::Bool)});
        std::vector<std::string> made;
        for (int dim = 0; dim < c.rank("condition"); ++dim)
            made.push_back(c.squeeze(c.slice(places, 0, dim, dim + 1), {0}));
        c.giveAll(made);
        return;
    }
    const DType dtype = c.resultDType();
    c.give(c.emit("Where",
                  {c.in("condition", DType::Bool), c.in("self", dtype), c.in("other", dtype)}));
}

void maskedFill(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    c.give(c.emit("Where", {c.in("mask", DType::Bool), c.in("value", dtype), c.in("self", dtype)}));
}

/// Clamps to a lower and an upper bound, either of which may be missing.
void clamp(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    std::string x = c.in("self", dtype);
    const auto isNumber = [&](const char* name) { return !c.has(name) || !c.given(name)->asRef(); };
    if (isFloating(dtype) && isNumber("min") && isNumber("max")) {
        std::vector<std::string> inputs {x, c.in("min", dtype)};
        if (c.has("max"))
            inputs.push_back(c.in("max", dtype));
        c.give(c.emit("Clip", inputs));
        return;
    }
    if (c.has("min"))
        x = c.emit("Max", {x, c.in("min", dtype)});
    if (c.has("max"))
        x = c.emit("Min", {x, c.in("max", dtype)});
    c.give(x);
}

/// Casts. Copies between devices are dropped.
void toType(OnnxCall& c)
{
    const DType wanted = c.resultType().dtype;
    c.give(c.in("self", wanted == DType::Unknown ? c.dtype("self") : wanted));
}

void unchanged(OnnxCall& c)
{
    for (const char* name : {"self", "input", "a", "tensor"})
        if (c.has(name)) {
            c.give(c.in(name));
            return;
        }
    c.refuse("its argument is not known");
}

} // namespace

void addElementwiseHandlers(OnnxHandlers& table)
{
    table["add"] = add;
    table["sub"] = table["subtract"] = subtract;
    table["rsub"] = reverseSubtract;
    table["mul"] = table["multiply"] = multiply;
    table["div"] = table["true_divide"] = table["divide"] = divide;
    table["floor_divide"] = floorDivide;
    table["remainder"] = remainder;
    table["fmod"] = fmod;
    table["pow"] = power;
    table["addcmul"] = addProduct<'*'>;
    table["addcdiv"] = addProduct<'/'>;
    table["atan2"] = table["arctan2"] = arcTangent;
    table["hypot"] = hypotenuse;
    table["lerp"] = lerp;
    table["eq"] = compare<"Equal">;
    table["gt"] = table["greater"] = compare<"Greater">;
    table["lt"] = table["less"] = compare<"Less">;
    table["ne"] = table["not_equal"] = differs;
    table["le"] = table["less_equal"] = compare<"LessOrEqual">;
    table["ge"] = table["greater_equal"] = compare<"GreaterOrEqual">;
    table["maximum"] = table["aten.max.other"] = both<"Max">;
    table["minimum"] = table["aten.min.other"] = both<"Min">;
    table["bitwise_and"] = table["__and__"] = logic<"And", "BitwiseAnd">;
    table["bitwise_or"] = table["__or__"] = logic<"Or", "BitwiseOr">;
    table["bitwise_xor"] = table["__xor__"] = logic<"Xor", "BitwiseXor">;
    table["logical_and"] = truth<"And">;
    table["logical_or"] = truth<"Or">;
    table["logical_xor"] = truth<"Xor">;
    table["logical_not"] = logicalNot;
    table["bitwise_not"] = bitwiseNot;
    table["where"] = where;
    table["masked_fill"] = maskedFill;
    table["clamp"] = table["clamp_min"] = table["clamp_max"] = table["clip"] = clamp;
    for (const char* name : {"to", "_to_copy", "type_as", "float", "half", "double", "long", "int"})
        table[name] = toType;
    for (const char* name : {"contiguous", "clone", "detach", "alias", "lift_fresh_copy", "lift",
                             "dropout", "feature_dropout", "alpha_dropout", "lift_fresh",
                             "positive", "resolve_conj", "resolve_neg", "native_dropout"})
        table[name] = unchanged;
    for (const std::string_view own : {kStubTarget, kObserveTarget})
        table[std::string(own)] = unchanged;
}

} // namespace qs
