// SPDX-License-Identifier: Apache-2.0
// Parts of a tensor along its dimensions.
#include "engine/execute/torch_types.h"
#include "engine/export/onnx/onnx_handlers.h"

#include <ATen/ATen.h>

#include <limits>
#include <numeric>

namespace qs {

namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kBegin = std::numeric_limits<std::int64_t>::min();

std::string sizeOr(OnnxCall& c, const char* name, std::int64_t otherwise)
{
    const Argument* given = c.given(name);
    return given ? c.size(*given) : c.ints({otherwise});
}

void slice(OnnxCall& c)
{
    c.give(c.emit("Slice",
                  {c.in("self"), sizeOr(c, "start", 0), sizeOr(c, "end", kEnd),
                   c.ints({c.integer("dim", 0)}), c.ints({c.integer("step", 1)})}));
}

void narrow(OnnxCall& c)
{
    const std::string start = c.size(*c.given("start"));
    const std::string end = c.emit("Add", {start, c.size(*c.given("length"))});
    c.give(c.emit("Slice", {c.in("self"), start, end, c.ints({c.integer("dim", 0)})}));
}

void select(OnnxCall& c)
{
    const Argument* index = c.given("index");
    if (!index) {
        c.refuse("its index is missing");
        return;
    }
    c.give(c.emit("Gather", {c.in("self"), c.value(*index, DType::Int64)},
                  {{"axis", c.integer("dim", 0)}}));
}

/// Splits into parts of the given sizes.
void giveParts(OnnxCall& c, const std::vector<std::int64_t>& sizes)
{
    const std::string x = c.in("self");
    if (sizes.size() == 1) {
        c.giveAll({x});
        return;
    }
    c.giveAll(
        c.emitMany("Split", {x, c.ints(sizes)}, sizes.size(), {{"axis", c.integer("dim", 0)}}));
}

/// Splits into parts of equal size; the last part may be smaller.
void giveEven(OnnxCall& c, std::int64_t size, std::int64_t part)
{
    std::vector<std::int64_t> sizes;
    for (std::int64_t at = 0; at < size; at += part)
        sizes.push_back(std::min(part, size - at));
    giveParts(c, sizes);
}

std::optional<std::int64_t> splitSize(OnnxCall& c)
{
    const auto size = c.fixedSize("self", c.integer("dim", 0));
    if (!size)
        c.refuse("the dimension that it divides is open");
    return size;
}

void split(OnnxCall& c)
{
    const char* name = c.has("split_sizes") ? "split_sizes" : "split_size";
    const Argument* given = c.given(name);
    if (given && given->asList()) {
        // Sizes are not fixed: slices one by one.
        std::vector<std::string> made;
        std::string start = c.ints({0});
        bool all = true;
        for (const Argument& item : *given->asList())
            all = all && c.fixed(item);
        if (all) {
            giveParts(c, c.integers(name));
            return;
        }
        const std::string x = c.in("self"), axis = c.ints({c.integer("dim", 0)});
        for (const Argument& item : *given->asList()) {
            const std::string end = c.emit("Add", {start, c.size(item)});
            made.push_back(c.emit("Slice", {x, start, end, axis}));
            start = end;
        }
        c.giveAll(made);
        return;
    }
    if (const auto size = splitSize(c))
        giveEven(c, *size, std::max<std::int64_t>(c.integer(name, 1), 1));
}

void chunk(OnnxCall& c)
{
    const auto size = splitSize(c);
    const std::int64_t chunks = std::max<std::int64_t>(c.integer("chunks", 1), 1);
    if (size)
        giveEven(c, *size, std::max<std::int64_t>((*size + chunks - 1) / chunks, 1));
}

void tensorSplit(OnnxCall& c)
{
    const auto size = splitSize(c);
    if (!size)
        return;
    std::vector<std::int64_t> ends = c.integers("indices"), sizes;
    if (!c.has("indices")) {
        const std::int64_t sections = c.integer("sections", 1);
        for (std::int64_t i = 0, at = 0; i + 1 < sections; ++i)
            ends.push_back(at += *size / sections + (i < *size % sections));
    }
    ends.push_back(*size);
    std::int64_t at = 0;
    for (const std::int64_t end : ends) {
        sizes.push_back(end - at);
        at = end;
    }
    giveParts(c, sizes);
}

void unbind(OnnxCall& c)
{
    const std::int64_t axis = c.integer("dim", 0);
    const std::string x = c.in("self");
    std::vector<std::string> made;
    for (std::size_t i = 0; i < c.node().outputs.size(); ++i)
        made.push_back(c.emit(
            "Gather", {x, c.constant(at::scalar_tensor(std::int64_t(i), at::kLong), "index")},
            {{"axis", axis}}));
    c.giveAll(made);
}

void flip(OnnxCall& c)
{
    std::string x = c.in("self");
    for (const std::int64_t axis : c.integers("dims"))
        x = c.slice(x, axis, -1, kBegin, -1);
    c.give(x);
}

/// Joins the end and the beginning of a dimension.
void roll(OnnxCall& c)
{
    std::string x = c.in("self");
    std::vector<std::int64_t> shifts = c.integers("shifts"), axes = c.integers("dims");
    const bool flat = axes.empty();
    const std::string whole = x;
    if (flat) {
        x = c.reshape(x, {-1});
        axes = {0};
    }
    for (std::size_t i = 0; i < axes.size() && i < shifts.size(); ++i) {
        const auto size = flat ? std::nullopt : c.fixedSize("self", axes[i]);
        const std::int64_t shift = size && *size ? shifts[i] % *size : shifts[i];
        if (shift == 0)
            continue;
        x = c.emit("Concat", {c.slice(x, axes[i], -shift, kEnd), c.slice(x, axes[i], 0, -shift)},
                   {{"axis", axes[i]}});
    }
    c.give(flat ? c.emit("Reshape", {x, c.emit("Shape", {whole})}) : x);
}

/// PyTorch lists (before, after) per dimension, last dimension first; ONNX lists all paddings
/// before and then all after, first dimension first.
void pad(OnnxCall& c, const std::string& mode)
{
    const Argument* given = c.given("pad") ? c.given("pad") : c.given("padding");
    const auto* list = given ? given->asList() : nullptr;
    const int rank = c.rank("self");
    if (!list || list->size() > 2 * std::size_t(rank)) {
        c.refuse("its widths are made as the model runs");
        return;
    }
    Argument::List widths(2 * std::size_t(rank), Argument(0));
    for (std::size_t i = 0; i < list->size() / 2; ++i) {
        widths[std::size_t(rank) - 1 - i] = (*list)[2 * i];
        widths[2 * std::size_t(rank) - 1 - i] = (*list)[2 * i + 1];
    }
    const std::string word = mode == "replicate" ? "edge" : mode == "circular" ? "wrap" : mode;
    if (word == "wrap" && c.opset() < 19)
        c.refuse("padding round needs operator set 19");
    std::vector<std::string> inputs {c.in("self"), c.sizes(widths)};
    if (word == "constant")
        inputs.push_back(c.scalar(c.number("value", 0), c.resultDType()));
    c.give(c.emit("Pad", std::move(inputs), {{"mode", word}}));
}

/// Keeps the elements below or above a diagonal.
void triangle(OnnxCall& c, bool upper)
{
    if (c.opset() < 14) {
        c.refuse("triangles need operator set 14");
        return;
    }
    const DType dtype = c.resultDType();
    const bool isBool = dtype == DType::Bool;
    // Trilu of bools is missing in some readers.
    const std::string x = isBool ? c.in("self", DType::Int64) : c.in("self");
    const std::string made = c.emit(
        "Trilu",
        {x, c.constant(at::scalar_tensor(c.integer("diagonal", 0), at::kLong), "diagonal")},
        {{"upper", upper}});
    c.give(isBool ? c.cast(made, dtype) : made);
}

/// Sliding windows of a dimension, as a new last dimension.
void unfold(OnnxCall& c)
{
    const std::int64_t axis = c.axis("dimension", 0);
    const auto size = c.fixedSize("self", axis);
    const std::int64_t width = c.integer("size", 1), step = c.integer("step", 1);
    if (!size) {
        c.refuse("the dimension that it cuts into windows is open");
        return;
    }
    std::vector<std::int64_t> places;
    const std::int64_t count = (*size - width) / step + 1;
    for (std::int64_t window = 0; window < count; ++window)
        for (std::int64_t i = 0; i < width; ++i)
            places.push_back(window * step + i);
    const at::Tensor index = at::tensor(at::IntArrayRef(places), at::kLong).reshape({count, width});
    const std::string cut
        = c.emit("Gather", {c.in("self"), c.constant(index, "windows")}, {{"axis", axis}});
    // Moves the dimension within a window, which follows the number of windows, to the end.
    const int rank = c.rank("self") + 1;
    std::vector<std::int64_t> order;
    for (std::int64_t dim = 0; dim < rank; ++dim)
        if (dim != axis + 1)
            order.push_back(dim);
    order.push_back(axis + 1);
    c.give(c.transpose(cut, order));
}

/// Differences of adjacent elements, applied `n` times, after `prepend` and `append` are joined.
void differences(OnnxCall& c)
{
    const std::int64_t axis = c.integer("dim", -1);
    std::vector<std::string> parts;
    for (const char* name : {"prepend", "self", "append"})
        if (c.has(name))
            parts.push_back(c.in(name, c.resultDType()));
    std::string x = parts.size() == 1 ? parts[0] : c.emit("Concat", parts, {{"axis", axis}});
    const bool isBool = c.resultDType() == DType::Bool;
    for (std::int64_t i = 0; i < c.integer("n", 1); ++i)
        x = c.emit(isBool ? "Xor" : "Sub", {c.slice(x, axis, 1, kEnd), c.slice(x, axis, 0, -1)});
    c.give(x);
}

/// The diagonal of two dimensions, as a new last dimension.
void diagonal(OnnxCall& c)
{
    const int rank = c.rank("self");
    const std::int64_t a = c.wrapped(c.integer("dim1", 0), rank);
    const std::int64_t b = c.wrapped(c.integer("dim2", 1), rank);
    const auto rows = c.fixedSize("self", a), columns = c.fixedSize("self", b);
    const std::int64_t offset = c.integer("offset", 0);
    if (!rows || !columns) {
        c.refuse("a dimension of its diagonal is open");
        return;
    }
    std::vector<std::int64_t> order {a, b}, places, back;
    for (std::int64_t dim = 0; dim < rank; ++dim)
        if (dim != a && dim != b)
            order.push_back(dim);
    for (std::int64_t row = 0; row < *rows; ++row)
        if (row + offset >= 0 && row + offset < *columns) {
            places.push_back(row);
            places.push_back(row + offset);
        }
    for (std::int64_t dim = 1; dim + 1 < rank; ++dim)
        back.push_back(dim);
    back.push_back(0);
    const at::Tensor where = at::tensor(at::IntArrayRef(places), at::kLong).reshape({-1, 2});
    const std::string found
        = c.emit("GatherND", {c.transpose(c.in("self"), order), c.constant(where, "diagonal")});
    c.give(c.transpose(found, back));
}

/// `self` with a part of one dimension replaced.
void sliceScatter(OnnxCall& c)
{
    if (c.integer("step", 1) != 1) {
        c.refuse("it writes with steps");
        return;
    }
    const std::int64_t axis = c.integer("dim", 0);
    const std::string x = c.in("self"), axes = c.ints({axis});
    const std::string start = sizeOr(c, "start", 0), end = sizeOr(c, "end", kEnd);
    const std::string before = c.emit("Slice", {x, c.ints({0}), start, axes});
    const std::string after = c.emit("Slice", {x, end, c.ints({kEnd}), axes});
    c.give(c.emit("Concat", {before, c.in("src", c.resultDType()), after}, {{"axis", axis}}));
}

void selectScatter(OnnxCall& c)
{
    const std::int64_t axis = c.axis("dim", 0), index = c.integer("index", 0);
    const std::string x = c.in("self");
    const std::string before = c.slice(x, axis, 0, index);
    const std::string after
        = index == -1 ? c.slice(x, axis, kEnd, kEnd) : c.slice(x, axis, index + 1, kEnd);
    c.give(c.emit("Concat", {before, c.unsqueeze(c.in("src", c.resultDType()), {axis}), after},
                  {{"axis", axis}}));
}

} // namespace

void addSliceHandlers(OnnxHandlers& table)
{
    table["slice"] = slice;
    table["narrow"] = narrow;
    table["select"] = select;
    table["split"] = table["split_with_sizes"] = table["unsafe_split"]
        = table["unsafe_split_with_sizes"] = split;
    table["split_with_sizes_copy"] = table["split_copy"] = split;
    table["chunk"] = table["unsafe_chunk"] = chunk;
    table["tensor_split"] = tensorSplit;
    table["unbind"] = unbind;
    table["flip"] = flip;
    table["fliplr"] = [](OnnxCall& c) { c.give(c.slice(c.in("self"), 1, -1, kBegin, -1)); };
    table["flipud"] = [](OnnxCall& c) { c.give(c.slice(c.in("self"), 0, -1, kBegin, -1)); };
    table["roll"] = roll;
    table["pad"] = [](OnnxCall& c) { pad(c, c.text("mode", "constant")); };
    table["constant_pad_nd"] = [](OnnxCall& c) { pad(c, "constant"); };
    for (const char* digit : {"1d", "2d", "3d"}) {
        table[std::string("reflection_pad") + digit] = [](OnnxCall& c) { pad(c, "reflect"); };
        table[std::string("replication_pad") + digit] = [](OnnxCall& c) { pad(c, "edge"); };
    }
    table["tril"] = [](OnnxCall& c) { triangle(c, false); };
    table["triu"] = [](OnnxCall& c) { triangle(c, true); };
    table["diff"] = differences;
    table["diagonal"] = diagonal;
    table["unfold"] = unfold;
    table["slice_scatter"] = sliceScatter;
    table["select_scatter"] = selectScatter;
}

} // namespace qs
