// SPDX-License-Identifier: Apache-2.0
// Less common functions, composed of ONNX operators.
#include "engine/export/onnx/onnx_handlers.h"

#include <numbers>

namespace qs {

namespace {

void scaledBy(OnnxCall& c, double factor)
{
    const DType dtype = c.resultDType();
    c.give(c.emit("Mul", {c.in("self", dtype), c.scalar(factor, dtype)}));
}

/// 1 - erf(x).
void complementaryError(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    c.give(c.emit("Sub", {c.scalar(1, dtype), c.emit("Erf", {c.in("self", dtype)})}));
}

/// sin(pi x) / (pi x), 1 at 0.
void sinc(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const std::string x = c.in("self", dtype);
    const std::string angle = c.emit("Mul", {x, c.scalar(std::numbers::pi, dtype)});
    const std::string isZero = c.emit("Equal", {x, c.scalar(0, dtype)});
    const std::string one = c.scalar(1, dtype);
    const std::string divisor = c.emit("Where", {isZero, one, angle});
    c.give(c.emit("Where", {isZero, one, c.emit("Div", {c.emit("Sin", {angle}), divisor})}));
}

/// |a - b| <= atol + rtol |b|, or equal.
void isClose(OnnxCall& c)
{
    const DType dtype = isFloating(c.dtype("self")) ? c.dtype("self") : DType::Float64;
    const std::string a = c.in("self", dtype), b = c.in("other", dtype);
    const std::string apart = c.emit("Abs", {c.emit("Sub", {a, b})});
    const std::string relative
        = c.emit("Mul", {c.emit("Abs", {b}), c.scalar(c.number("rtol", 1e-5), dtype)});
    const std::string allowed = c.emit("Add", {relative, c.scalar(c.number("atol", 1e-8), dtype)});
    const std::string close = c.emit("LessOrEqual", {apart, allowed});
    c.give(c.emit("Or", {c.emit("Equal", {a, b}), close}));
}

/// 0 for negative, 1 for positive elements; `values` for zero.
void heaviside(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const std::string x = c.in("self", dtype), zero = c.scalar(0, dtype);
    const std::string step = c.cast(c.emit("Greater", {x, zero}), dtype);
    c.give(c.emit("Where", {c.emit("Equal", {x, zero}), c.in("values", dtype), step}));
}

/// Magnitude of one with the sign of the other; treats -0.0 as positive, because ONNX cannot test
/// its sign.
void copySign(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const std::string size = c.emit("Abs", {c.in("self", dtype)});
    const std::string isBelow = c.emit("Less", {c.in("other", dtype), c.scalar(0, dtype)});
    c.give(c.emit("Where", {isBelow, c.emit("Neg", {size}), size}));
}

/// Maximum or minimum (`op`) that ignores NaN: where one input is NaN, the other one.
void ofNumbers(OnnxCall& c, const char* op)
{
    const DType dtype = c.resultDType();
    const std::string a = c.in("self", dtype), b = c.in("other", dtype);
    const std::string rest = c.emit("Where", {c.emit("IsNaN", {b}), a, c.emit(op, {a, b})});
    c.give(c.emit("Where", {c.emit("IsNaN", {a}), b, rest}));
}

/// a * log(b), 0 where a is 0.
void xLogY(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const std::string a = c.in("self", dtype), zero = c.scalar(0, dtype);
    const std::string product = c.emit("Mul", {a, c.emit("Log", {c.in("other", dtype)})});
    c.give(c.emit("Where", {c.emit("Equal", {a, zero}), zero, product}));
}

/// Number of bounds in a sorted row that are below each value (or equal to it, if `right` is set).
void countBelow(OnnxCall& c, const char* values, const char* bounds)
{
    const DType dtype = isFloating(c.dtype(values)) ? c.dtype(values) : c.dtype(bounds);
    const bool right = c.flag("right", false) || c.text("side") == "right";
    if (c.has("sorter")) {
        c.refuse("its bounds are sorted by another tensor");
        return;
    }
    const std::string x = c.unsqueeze(c.in(values, dtype), {-1});
    std::string row = c.in(bounds, dtype);
    if (c.rank(bounds) > 1)
        row = c.unsqueeze(row, {-2});
    const std::string isBelow = c.emit(right ? "LessOrEqual" : "Less", {row, x});
    const std::string count = c.reduce("ReduceSum", c.cast(isBelow, DType::Int64), {-1}, false);
    c.give(c.resultDType() == DType::Int32 ? c.cast(count, DType::Int32) : count);
}

/// Distinct values, sorted.
void unique(OnnxCall& c)
{
    const auto made = c.emitMany("Unique", {c.in("self")}, 4, {{"sorted", 1}});
    c.give(made[0], 0);
    if (c.flag("return_inverse", false))
        c.give(c.emit("Reshape", {made[2], c.emit("Shape", {c.in("self")})}), 1);
    if (c.flag("return_counts", false))
        c.give(made[3], 2);
}

/// The k-th smallest element along a dimension, or the median (the lower of two middle elements).
void orderedValue(OnnxCall& c, bool isMiddle)
{
    const std::int64_t dim = c.axis("dim", -1);
    const auto size = c.fixedSize("self", dim);
    if (isMiddle && !size) {
        c.refuse("the size of its dimension is open");
        return;
    }
    const std::int64_t k = isMiddle ? (*size + 1) / 2 : c.integer("k", 1);
    const auto made = c.emitMany("TopK", {c.in("self"), c.ints({k})}, 2,
                                 {{"axis", dim}, {"largest", 0}, {"sorted", 1}});
    for (std::size_t i = 0; i < 2; ++i) {
        const std::string last = c.slice(made[i], dim, k - 1, k);
        c.give(c.flag("keepdim", false) ? last : c.squeeze(last, {dim}), i);
    }
}

} // namespace

void addSpecialHandlers(OnnxHandlers& table)
{
    table["deg2rad"] = [](OnnxCall& c) { scaledBy(c, std::numbers::pi / 180); };
    table["rad2deg"] = [](OnnxCall& c) { scaledBy(c, 180 / std::numbers::pi); };
    table["erfc"] = table["special_erfc"] = complementaryError;
    table["sinc"] = table["special_sinc"] = sinc;
    table["isclose"] = isClose;
    table["heaviside"] = heaviside;
    table["copysign"] = copySign;
    table["signbit"] = [](OnnxCall& c) {
        c.give(c.emit("Less", {c.in("self"), c.scalar(0, c.dtype("self"))}));
    };
    table["fmax"] = [](OnnxCall& c) { ofNumbers(c, "Max"); };
    table["fmin"] = [](OnnxCall& c) { ofNumbers(c, "Min"); };
    table["xlogy"] = table["special_xlogy"] = xLogY;
    table["bucketize"] = [](OnnxCall& c) { countBelow(c, "self", "boundaries"); };
    table["searchsorted"] = [](OnnxCall& c) { countBelow(c, "self", "sorted_sequence"); };
    table["kthvalue"] = [](OnnxCall& c) { orderedValue(c, false); };
    table["aten.median.dim"] = [](OnnxCall& c) { orderedValue(c, true); };
    table["_unique2"] = unique;
    table["take"] = [](OnnxCall& c) {
        c.give(c.emit("Gather", {c.reshape(c.in("self"), {-1}), c.in("index", DType::Int64)},
                      {{"axis", 0}}));
    };
}

} // namespace qs
