// SPDX-License-Identifier: Apache-2.0
// Elements selected by tensors of indices.
#include "engine/execute/torch_types.h"
#include "engine/export/onnx/onnx_handlers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace qs {

namespace {

struct Places
{
    std::vector<std::int64_t> axes; ///< the indexed axes
    std::vector<std::string> tensors; ///< int64, one for each
    int rank = 0; ///< of the index tensors after broadcasting
    bool adjacent = true; ///< the axes are consecutive
};

DType typeOf(OnnxCall& c, const Argument& item)
{
    const ValueRef* ref = item.asRef();
    return ref ? c.builder().graph().value(*ref).type.dtype : DType::Unknown;
}

int rankOf(OnnxCall& c, const Argument& item)
{
    const ValueRef* ref = item.asRef();
    const ValueType* type = ref ? &c.builder().graph().value(*ref).type : nullptr;
    if (type && type->shapeKnown)
        return int(type->shape.size());
    c.refuse("the rank of its indices is unknown");
    return 1;
}

/// Adds the indices of the true elements of a bool mask.
void addMask(OnnxCall& c, const Argument& item, std::int64_t axis, Places& places)
{
    const int rank = rankOf(c, item);
    const std::string found = c.emit("NonZero", {c.value(item, DType::Bool)}); // [rank, count]
    for (int dim = 0; dim < rank; ++dim) {
        places.axes.push_back(axis + dim);
        places.tensors.push_back(c.emit(
            "Gather", {found, c.constant(at::scalar_tensor(std::int64_t(dim), at::kLong), "index")},
            {{"axis", 0}}));
    }
    places.rank = std::max(places.rank, 1);
}

Places placesOf(OnnxCall& c)
{
    Places places;
    const Argument* given = c.given("indices");
    const auto* list = given ? given->asList() : nullptr;
    if (!list) {
        c.refuse("its indices are made as the model runs");
        return places;
    }
    std::int64_t axis = 0;
    for (const Argument& item : *list) {
        const DType dtype = item.isNone() ? DType::Int64 : typeOf(c, item);
        if (!item.isNone() && (dtype == DType::Bool || dtype == DType::UInt8)) {
            addMask(c, item, axis, places);
            axis += rankOf(c, item);
            continue;
        }
        if (!item.isNone()) {
            places.axes.push_back(axis);
            places.tensors.push_back(c.value(item, DType::Int64));
            places.rank = std::max(places.rank, rankOf(c, item));
        }
        ++axis;
    }
    for (std::size_t i = 1; i < places.axes.size(); ++i)
        places.adjacent = places.adjacent && places.axes[i] == places.axes[i - 1] + 1;
    if (places.axes.empty())
        c.refuse("it has no indices");
    return places;
}

/// The index tensors, stacked along a new last dimension.
std::string stacked(OnnxCall& c, const Places& places)
{
    std::vector<std::string> columns;
    for (std::size_t i = 0; i < places.tensors.size(); ++i) {
        std::string one = places.tensors[i];
        for (std::size_t j = 0; j < places.tensors.size(); ++j)
            if (j != i)
                one = c.emit("Expand", {one, c.emit("Shape", {places.tensors[j]})});
        columns.push_back(c.unsqueeze(one, {-1}));
    }
    return columns.size() == 1 ? columns[0] : c.emit("Concat", columns, {{"axis", -1}});
}

/// Permutation with the indexed axes first and the others in order.
std::vector<std::int64_t> indexedFirst(const Places& places, int rank)
{
    std::vector<std::int64_t> order = places.axes;
    for (std::int64_t axis = 0; axis < rank; ++axis)
        if (std::find(places.axes.begin(), places.axes.end(), axis) == places.axes.end())
            order.push_back(axis);
    return order;
}

bool isInOrder(const std::vector<std::int64_t>& order)
{
    return std::is_sorted(order.begin(), order.end());
}

void index(OnnxCall& c)
{
    const Places places = placesOf(c);
    if (places.axes.empty())
        return;
    std::string x = c.in("self");
    if (places.axes.size() == 1) {
        c.give(c.emit("Gather", {x, places.tensors[0]}, {{"axis", places.axes[0]}}));
        return;
    }
    const int rank = c.rank("self");
    const auto order = indexedFirst(places, rank);
    if (!isInOrder(order))
        x = c.transpose(x, order);
    const std::string found = c.emit("GatherND", {x, stacked(c, places)});
    const std::int64_t first = places.adjacent ? places.axes[0] : 0;
    if (first == 0) {
        c.give(found);
        return;
    }
    // The gathered dimensions are in front; those of adjacent axes move back to their position.
    const int made = places.rank + rank - int(places.axes.size());
    std::vector<std::int64_t> back;
    for (std::int64_t i = 0; i < first; ++i)
        back.push_back(places.rank + i);
    for (std::int64_t i = 0; i < places.rank; ++i)
        back.push_back(i);
    for (std::int64_t i = places.rank + first; i < made; ++i)
        back.push_back(i);
    c.give(c.transpose(found, back));
}

/// Writes values at indices; transposes the indexed axes to the front meanwhile.
void indexPut(OnnxCall& c)
{
    const Places places = placesOf(c);
    if (places.axes.empty())
        return;
    const DType dtype = c.resultDType();
    const int rank = c.rank("self");
    const auto order = indexedFirst(places, rank);
    const bool moved = !isInOrder(order);
    if (moved && places.axes[0] != 0 && c.rank("values") > 1) {
        c.refuse("it writes values of several dimensions at places of later dimensions");
        return;
    }
    std::string x = c.in("self");
    if (moved)
        x = c.transpose(x, order);
    const std::string where = stacked(c, places);
    // Shape of the values: that of the indices, then the remaining dimensions of the input.
    const std::string placeShape = c.slice(c.emit("Shape", {where}), 0, 0, -1);
    const std::string rest
        = c.slice(c.emit("Shape", {x}), 0, std::int64_t(places.axes.size()), std::int64_t(rank));
    const std::string values = c.emit(
        "Expand", {c.in("values", dtype), c.emit("Concat", {placeShape, rest}, {{"axis", 0}})});
    OnnxAttributes attributes;
    if (c.flag("accumulate", false)) {
        if (c.opset() < 16)
            c.refuse("adding at places needs operator set 16");
        attributes.emplace_back("reduction", "add");
    }
    std::string made = c.emit("ScatterND", {x, where, values}, std::move(attributes));
    if (moved) {
        std::vector<std::int64_t> back(order.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            back[std::size_t(order[i])] = std::int64_t(i);
        made = c.transpose(made, back);
    }
    c.give(made);
}

void indexSelect(OnnxCall& c)
{
    c.give(c.emit("Gather", {c.in("self"), c.in("index", DType::Int64)},
                  {{"axis", c.integer("dim", 0)}}));
}

void gather(OnnxCall& c)
{
    c.give(c.emit("GatherElements", {c.in("self"), c.in("index", DType::Int64)},
                  {{"axis", c.integer("dim", 0)}}));
}

/// Only the part of `src` with the shape of `index` counts. A number is written everywhere.
void scatter(OnnxCall& c, const char* reduction)
{
    const DType dtype = c.resultDType();
    const std::string where = c.in("index", DType::Int64);
    std::string values;
    if (c.has("src")) {
        values = c.in("src", dtype);
        const std::int64_t rank = c.rank("index");
        std::vector<std::int64_t> axes(static_cast<std::size_t>(rank)), zeros(axes.size(), 0);
        std::iota(axes.begin(), axes.end(), 0);
        if (c.type("src").shape != c.type("index").shape)
            values
                = c.emit("Slice", {values, c.ints(zeros), c.emit("Shape", {where}), c.ints(axes)});
    } else {
        values = c.emit("Expand", {c.in("value", dtype), c.emit("Shape", {where})});
    }
    OnnxAttributes attributes {{"axis", c.integer("dim", 0)}};
    std::string kind = reduction;
    if (c.has("reduce"))
        kind = c.text("reduce");
    if (kind == "multiply" || kind == "prod")
        kind = "mul";
    else if (kind == "sum")
        kind = "add";
    else if (kind == "amax" || kind == "amin")
        kind = kind.substr(1);
    if (kind == "mean" || !c.flag("include_self", true))
        c.refuse("it reduces by the mean, or without the value that stood there");
    if (!kind.empty()) {
        if (c.opset() < (kind == "max" || kind == "min" ? 18 : 16))
            c.refuse("reducing at places needs operator set 18");
        attributes.emplace_back("reduction", kind);
    }
    c.give(c.emit("ScatterElements", {c.in("self"), where, values}, std::move(attributes)));
}

/// Adds to or replaces whole slices along a dimension.
void indexRows(OnnxCall& c, bool adds)
{
    const DType dtype = c.resultDType();
    const std::int64_t axis = c.axis("dim", 0);
    std::vector<std::int64_t> order;
    for (std::int64_t dim = 0; dim < c.rank("self"); ++dim)
        order.push_back(dim);
    if (order.empty() || axis >= std::int64_t(order.size())) {
        c.refuse("it has no dimension to write along");
        return;
    }
    std::swap(order[0], order[std::size_t(axis)]);
    const auto turned
        = [&](const std::string& value) { return axis == 0 ? value : c.transpose(value, order); };
    const std::string x = turned(c.in("self"));
    const std::string where = c.unsqueeze(c.in("index", DType::Int64), {1});
    std::string rows;
    if (c.has("source")) {
        rows = turned(c.in("source", dtype));
        if (const double alpha = c.number("alpha", 1); alpha != 1)
            rows = c.emit("Mul", {rows, c.scalar(alpha, dtype)});
    } else {
        const std::string count = c.slice(c.emit("Shape", {where}), 0, 0, 1);
        const std::string rest = c.slice(c.emit("Shape", {x}), 0, 1, std::int64_t(order.size()));
        rows = c.emit("Expand",
                      {c.in("value", dtype), c.emit("Concat", {count, rest}, {{"axis", 0}})});
    }
    OnnxAttributes attributes;
    if (adds && c.opset() < 16)
        c.refuse("adding at places needs operator set 16");
    if (adds)
        attributes.emplace_back("reduction", "add");
    c.give(turned(c.emit("ScatterND", {x, where, rows}, std::move(attributes))));
}

void maskedSelect(OnnxCall& c)
{
    const std::string x = c.in("self"), mask = c.in("mask", DType::Bool);
    const std::string wide = c.emit("Expand", {x, c.emit("Shape", {mask})});
    const std::string all = c.emit("Expand", {mask, c.emit("Shape", {x})});
    c.give(c.emit("Compress", {c.reshape(wide, {-1}), c.reshape(all, {-1})}, {{"axis", 0}}));
}

void nonzero(OnnxCall& c)
{
    c.give(c.transpose(c.emit("NonZero", {c.in("self")}), {1, 0}));
}

} // namespace

void addIndexHandlers(OnnxHandlers& table)
{
    table["index"] = index;
    table["index_put"] = table["_unsafe_index_put"] = indexPut;
    table["_unsafe_index"] = index;
    table["index_select"] = indexSelect;
    table["gather"] = gather;
    table["scatter"] = [](OnnxCall& c) { scatter(c, ""); };
    table["scatter_add"] = [](OnnxCall& c) { scatter(c, "add"); };
    table["scatter_reduce"] = [](OnnxCall& c) { scatter(c, ""); };
    table["index_add"] = [](OnnxCall& c) { indexRows(c, true); };
    table["index_copy"] = table["index_fill"] = [](OnnxCall& c) { indexRows(c, false); };
    table["masked_select"] = maskedSelect;
    table["nonzero"] = nonzero;
    table["take_along_dim"] = [](OnnxCall& c) {
        c.give(c.emit("GatherElements", {c.in("self"), c.in("indices", DType::Int64)},
                      {{"axis", c.integer("dim", 0)}}));
    };
}

} // namespace qs
