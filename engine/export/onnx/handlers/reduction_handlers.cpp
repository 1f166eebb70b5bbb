// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/torch_types.h"
#include "engine/export/onnx/onnx_handlers.h"
#include "engine/export/onnx/onnx_word.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace qs {

namespace {

/// The reduced dimensions; empty means all.
std::vector<std::int64_t> axesOf(OnnxCall& c)
{
    return c.integers("dim");
}

DType computedIn(OnnxCall& c)
{
    const Argument* wanted = c.given("dtype");
    return wanted && wanted->asDType() ? *wanted->asDType() : c.resultDType();
}

template<OnnxWord Op>
void reduce(OnnxCall& c)
{
    const DType dtype = computedIn(c);
    c.give(c.reduce(Op.text, c.in("self", dtype), axesOf(c), c.flag("keepdim", false)));
}

/// `any` and `all`, as maximum and minimum of 0 and 1.
template<OnnxWord Op>
void reduceTruth(OnnxCall& c)
{
    const std::string x = c.cast(c.in("self", DType::Bool), DType::Int32);
    c.give(c.cast(c.reduce(Op.text, x, axesOf(c), c.flag("keepdim", false)), DType::Bool));
}

/// Number of reduced elements, as a scalar of type `dtype`.
std::string countOf(OnnxCall& c, const std::string& x, const std::vector<std::int64_t>& axes,
                    DType dtype)
{
    if (axes.empty())
        return c.cast(c.emit("Size", {x}), dtype);
    const int rank = c.rank("self");
    std::vector<std::int64_t> places;
    for (const std::int64_t axis : axes)
        places.push_back(c.wrapped(axis, rank));
    const std::string sizes
        = c.emit("Gather", {c.emit("Shape", {x}), c.ints(places)}, {{"axis", 0}});
    return c.cast(c.emit("ReduceProd", {sizes}, {{"keepdims", 0}}), dtype);
}

std::string variance(OnnxCall& c, bool keep)
{
    const DType dtype = c.resultDType();
    const std::string x = c.in("self", dtype);
    const std::vector<std::int64_t> axes = axesOf(c);
    const double correction = c.has("correction") ? c.number("correction", 1)
        : c.flag("unbiased", true)                ? 1
                                                  : 0;
    const std::string centred = c.emit("Sub", {x, c.reduce("ReduceMean", x, axes, true)});
    const std::string squares = c.emit("Mul", {centred, centred});
    if (correction == 0)
        return c.reduce("ReduceMean", squares, axes, keep);
    const std::string count
        = c.emit("Sub", {countOf(c, x, axes, dtype), c.scalar(correction, dtype)});
    return c.emit("Div", {c.reduce("ReduceSum", squares, axes, keep), count});
}

void var(OnnxCall& c)
{
    c.give(variance(c, c.flag("keepdim", false)));
}

void standardDeviation(OnnxCall& c)
{
    c.give(c.emit("Sqrt", {variance(c, c.flag("keepdim", false))}));
}

/// Variance or standard deviation (`root`), and the mean.
void spreadAndMean(OnnxCall& c, bool root)
{
    const bool keep = c.flag("keepdim", false);
    const std::string mean = c.reduce("ReduceMean", c.in("self", c.resultDType()), axesOf(c), keep);
    std::string made = variance(c, keep);
    if (root)
        made = c.emit("Sqrt", {made});
    c.give(made, 0);
    c.give(mean, 1);
}

/// Vector norms of order 1, 2, infinity, or any other power.
void vectorNorm(OnnxCall& c)
{
    const DType dtype = computedIn(c);
    const std::string x = c.in("self", dtype);
    const auto axes = axesOf(c);
    const bool keep = c.flag("keepdim", false);
    const double order = c.has("ord") ? c.number("ord", 2) : c.number("p", 2);
    if (order == 1 || order == 2) {
        c.give(c.reduce(order == 1 ? "ReduceL1" : "ReduceL2", x, axes, keep));
        return;
    }
    const std::string size = c.emit("Abs", {x});
    if (std::isinf(order)) {
        c.give(c.reduce(order > 0 ? "ReduceMax" : "ReduceMin", size, axes, keep));
        return;
    }
    if (order == 0) {
        c.refuse("it counts what is not 0");
        return;
    }
    const std::string sum
        = c.reduce("ReduceSum", c.emit("Pow", {size, c.scalar(order, dtype)}), axes, keep);
    c.give(c.emit("Pow", {sum, c.scalar(1 / order, dtype)}));
}

void countNonzero(OnnxCall& c)
{
    const std::string x = c.cast(c.in("self", DType::Bool), DType::Int64);
    c.give(c.reduce("ReduceSum", x, axesOf(c), false));
}

template<OnnxWord Op>
void argument(OnnxCall& c)
{
    const std::string x = c.in("self");
    if (!c.has("dim")) {
        const std::string flat = c.reshape(x, {-1});
        c.give(c.emit(Op.text, {flat}, {{"axis", 0}, {"keepdims", 0}}));
        return;
    }
    c.give(c.emit(Op.text, {x},
                  {{"axis", c.integer("dim", 0)}, {"keepdims", c.flag("keepdim", false)}}));
}

/// Extreme values and their indices.
template<OnnxWord Op, OnnxWord Places>
void extreme(OnnxCall& c)
{
    const std::int64_t axis = c.integer("dim", 0);
    const bool keep = c.flag("keepdim", false);
    const std::string x = c.in("self");
    const std::string places = c.emit(Places.text, {x}, {{"axis", axis}, {"keepdims", keep}});
    const std::string values = c.reduce(Op.text, x, {axis}, keep);
    c.give(values, 0);
    c.give(places, 1);
}

void cumulativeSum(OnnxCall& c)
{
    const std::string x = c.in("self", computedIn(c));
    c.give(c.emit("CumSum",
                  {x, c.constant(at::scalar_tensor(c.integer("dim", 0), at::kLong), "axis")}));
}

void largest(OnnxCall& c)
{
    const auto made = c.emitMany("TopK", {c.in("self"), c.size(*c.given("k"))}, 2,
                                 {{"axis", c.integer("dim", -1)},
                                  {"largest", c.flag("largest", true)},
                                  {"sorted", c.flag("sorted", true)}});
    c.give(made[0], 0);
    c.give(made[1], 1);
}

/// All elements along a dimension, sorted.
std::vector<std::string> sorted(OnnxCall& c)
{
    const std::int64_t axis = c.axis("dim", -1);
    const std::string x = c.in("self");
    return c.emitMany("TopK", {x, c.sizeOf(x, axis)}, 2,
                      {{"axis", axis}, {"largest", c.flag("descending", false)}, {"sorted", 1}});
}

void sort(OnnxCall& c)
{
    const auto made = sorted(c);
    c.give(made[0], 0);
    c.give(made[1], 1);
}

} // namespace

void addReductionHandlers(OnnxHandlers& table)
{
    table["mean"] = reduce<"ReduceMean">;
    table["sum"] = reduce<"ReduceSum">;
    table["amax"] = table["aten.max.default"] = reduce<"ReduceMax">;
    table["amin"] = table["aten.min.default"] = reduce<"ReduceMin">;
    table["prod"] = reduce<"ReduceProd">;
    table["logsumexp"] = reduce<"ReduceLogSumExp">;
    table["any"] = reduceTruth<"ReduceMax">;
    table["all"] = reduceTruth<"ReduceMin">;
    table["var"] = var;
    table["std"] = standardDeviation;
    table["var_mean"] = [](OnnxCall& c) { spreadAndMean(c, false); };
    table["std_mean"] = [](OnnxCall& c) { spreadAndMean(c, true); };
    table["count_nonzero"] = countNonzero;
    table["norm"] = table["linalg_vector_norm"] = vectorNorm;
    table["argmax"] = argument<"ArgMax">;
    table["argmin"] = argument<"ArgMin">;
    table["aten.max.dim"] = extreme<"ReduceMax", "ArgMax">;
    table["aten.min.dim"] = extreme<"ReduceMin", "ArgMin">;
    table["cumsum"] = cumulativeSum;
    table["topk"] = largest;
    table["sort"] = sort;
    table["argsort"] = [](OnnxCall& c) { c.give(sorted(c)[1]); };
}

} // namespace qs
