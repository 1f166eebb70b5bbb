// SPDX-License-Identifier: Apache-2.0
// Sizes of tensors and arithmetic on them. Numbers are 0-dimensional tensors.
#include "engine/execute/torch_types.h"
#include "engine/export/onnx/onnx_handlers.h"
#include "engine/export/onnx/onnx_word.h"
#include "engine/graph/operators/common_targets.h"

#include <ATen/ATen.h>

#include <array>
#include <string>

namespace qs {

namespace {

const Argument& argument(OnnxCall& c, std::size_t position)
{
    static const Argument none;
    const Argument* given = c.node().tryArg(position);
    if (!given || given->isNone())
        c.refuse("an operand is missing");
    return given ? *given : none;
}

DType sizeType(OnnxCall& c, const Argument& argument)
{
    if (const ValueRef* ref = argument.asRef()) {
        const ValueType& type = c.builder().graph().value(*ref).type;
        return type.kind == ValueKind::SymFloat ? DType::Float64
            : type.kind == ValueKind::SymBool   ? DType::Bool
            : type.kind == ValueKind::SymInt    ? DType::Int64
                                                : type.dtype;
    }
    return argument.asDouble() ? DType::Float64 : argument.asBool() ? DType::Bool : DType::Int64;
}

bool anyFloating(OnnxCall& c)
{
    for (const NamedArgument& arg : c.node().args)
        if (isFloating(sizeType(c, arg.value)))
            return true;
    return false;
}

/// The element type of the computation.
DType sizesComputedIn(OnnxCall& c)
{
    return anyFloating(c) ? DType::Float64 : DType::Int64;
}

void sizeOfDimension(OnnxCall& c)
{
    const std::string shape = c.emit("Shape", {c.value(argument(c, 0))});
    c.give(c.emit("Gather", {shape, c.value(argument(c, 1), DType::Int64)}, {{"axis", 0}}));
}

void numberOfElements(OnnxCall& c)
{
    c.give(c.emit("Size", {c.value(argument(c, 0))}));
}

template<OnnxWord Op>
void binary(OnnxCall& c)
{
    const DType dtype = sizesComputedIn(c);
    c.give(c.emit(Op.text, {c.value(argument(c, 0), dtype), c.value(argument(c, 1), dtype)}));
}

void sizesDiffer(OnnxCall& c)
{
    const DType dtype = sizesComputedIn(c);
    c.give(c.emit(
        "Not",
        {c.emit("Equal", {c.value(argument(c, 0), dtype), c.value(argument(c, 1), dtype)})}));
}

void divideDown(OnnxCall& c)
{
    const DType dtype = sizesComputedIn(c);
    const std::string a = c.value(argument(c, 0), dtype), b = c.value(argument(c, 1), dtype);
    if (isFloating(dtype))
        c.give(c.emit("Floor", {c.emit("Div", {a, b})}));
    else
        c.give(c.emit("Div", {c.emit("Sub", {a, c.emit("Mod", {a, b})}), b}));
}

void modulo(OnnxCall& c)
{
    const DType dtype = sizesComputedIn(c);
    const std::string a = c.value(argument(c, 0), dtype), b = c.value(argument(c, 1), dtype);
    if (isFloating(dtype))
        c.give(c.emit("Sub", {a, c.emit("Mul", {c.emit("Floor", {c.emit("Div", {a, b})}), b})}));
    else
        c.give(c.emit("Mod", {a, b}));
}

void divideTrue(OnnxCall& c)
{
    c.give(c.emit(
        "Div", {c.value(argument(c, 0), DType::Float64), c.value(argument(c, 1), DType::Float64)}));
}

/// Maximum, minimum or sum of all operands, which may be items of one list.
template<OnnxWord Op>
void ofAll(OnnxCall& c)
{
    const DType dtype = sizesComputedIn(c);
    std::vector<std::string> all;
    for (const NamedArgument& arg : c.node().args) {
        if (const auto* list = arg.value.asList())
            for (const Argument& item : *list)
                all.push_back(c.value(item, dtype));
        else
            all.push_back(c.value(arg.value, dtype));
    }
    if (all.empty()) {
        c.refuse("it has no operands");
        return;
    }
    std::string made = all[0];
    for (std::size_t i = 1; i < all.size(); ++i)
        made = c.emit(Op.text, {made, all[i]});
    c.give(made);
}

void negate(OnnxCall& c)
{
    c.give(c.emit("Neg", {c.value(argument(c, 0), sizesComputedIn(c))}));
}

void absolute(OnnxCall& c)
{
    c.give(c.emit("Abs", {c.value(argument(c, 0), sizesComputedIn(c))}));
}

/// Converts a number to a fixed type.
template<DType To>
void convert(OnnxCall& c)
{
    c.give(c.value(argument(c, 0), To));
}

/// Rounded by `Op`, as an integer.
template<OnnxWord Op>
void rounded(OnnxCall& c)
{
    const Argument& number = argument(c, 0);
    if (isFloating(sizeType(c, number)))
        c.give(c.cast(c.emit(Op.text, {c.value(number, DType::Float64)}), DType::Int64));
    else
        c.give(c.value(number, DType::Int64));
}

void root(OnnxCall& c)
{
    c.give(c.emit("Sqrt", {c.value(argument(c, 0), DType::Float64)}));
}

void negateTruth(OnnxCall& c)
{
    c.give(c.emit("Not", {c.value(argument(c, 0), DType::Bool)}));
}

void choose(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    c.give(c.emit("Where",
                  {c.value(argument(c, 0), DType::Bool), c.value(argument(c, 1), dtype),
                   c.value(argument(c, 2), dtype)}));
}

/// The number in a tensor of one element.
void item(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    c.give(c.emit("Reshape", {c.value(argument(c, 0), dtype), c.ints({})}));
}

void numberAsTensor(OnnxCall& c)
{
    c.give(c.value(argument(c, 0)));
}

/// Handler of a function on numbers, by name.
struct Named
{
    const char* name;
    OnnxHandler handler;
};
constexpr std::array<Named, 36> kPython {{
    {"add", binary<"Add">},
    {"sub", binary<"Sub">},
    {"mul", binary<"Mul">},
    {"floordiv", divideDown},
    {"mod", modulo},
    {"pow", binary<"Pow">},
    {"pow_by_natural", binary<"Pow">},
    {"truediv", divideTrue},
    {"int_truediv", divideTrue},
    {"IntTrueDiv", divideTrue},
    {"eq", binary<"Equal">},
    {"ne", sizesDiffer},
    {"lt", binary<"Less">},
    {"le", binary<"LessOrEqual">},
    {"gt", binary<"Greater">},
    {"ge", binary<"GreaterOrEqual">},
    {"sym_max", ofAll<"Max">},
    {"sym_min", ofAll<"Min">},
    {"max", ofAll<"Max">},
    {"min", ofAll<"Min">},
    {"sym_sum", ofAll<"Add">},
    {"sym_ite", choose},
    {"neg", negate},
    {"abs", absolute},
    {"not_", negateTruth},
    {"sym_not", negateTruth},
    {"sym_float", convert<DType::Float64>},
    {"float", convert<DType::Float64>},
    {"floor", rounded<"Floor">},
    {"ceil", rounded<"Ceil">},
    {"round", rounded<"Round">},
    {"sqrt", root},
    {"_sym_sqrt", root},
    {"sym_int", convert<DType::Int64>},
    {"int", convert<DType::Int64>},
    {"trunc", convert<DType::Int64>},
}};

/// TorchScript's conversions between kinds of numbers.
constexpr std::array<Named, 2> kScript {{
    {"aten.Int.Scalar", convert<DType::Int64>},
    {"aten.Float.Scalar", convert<DType::Float64>},
}};

} // namespace

void addSizeHandlers(OnnxHandlers& table)
{
    for (const Named& one : kPython)
        table[std::string(kNumberPrefix) + one.name] = one.handler;
    for (const Named& one : kScript)
        table[one.name] = one.handler;
    table[std::string(kSizeTarget)] = table["aten.size.int"] = sizeOfDimension;
    table[std::string(kElementsTarget)] = table["aten.numel.default"] = numberOfElements;
    table["aten.item.default"] = table["aten._local_scalar_dense.default"]
        = table["aten.Int.Tensor"] = table["aten.Float.Tensor"] = table["aten.Bool.Tensor"]
        = table["aten.IntImplicit.default"] = table["aten.ScalarImplicit.default"]
        = table["aten.FloatImplicit.default"] = item;
    table["prim.NumToTensor.Scalar"] = table["prim.NumToTensor.bool"] = numberAsTensor;
}

} // namespace qs
