// SPDX-License-Identifier: Apache-2.0
// Operators that change the shape or order of elements.
#include "engine/export/onnx/onnx_handlers.h"

#include <algorithm>
#include <numeric>

namespace qs {

namespace {

std::vector<std::int64_t> inOrder(int rank)
{
    std::vector<std::int64_t> order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    return order;
}

/// Sizes for Reshape: a single unknown size becomes -1; a size copied from the same dimension of
/// the input becomes 0.
std::string wantedSizes(OnnxCall& c, const Argument& argument)
{
    const auto* list = argument.asList();
    if (!list)
        return c.sizes(argument);
    const ValueType before = c.type("self");
    const ValueType& after = c.resultType();
    std::vector<std::int64_t> sizes;
    std::size_t open = 0;
    bool inferred = false, plain = true;
    for (std::size_t i = 0; i < list->size(); ++i) {
        const auto size = c.fixed((*list)[i]);
        const bool kept = !size && before.shapeKnown && after.shapeKnown && i < before.shape.size()
            && i < after.shape.size() && before.shape[i].isSymbolic()
            && before.shape[i].symbol == after.shape[i].symbol;
        inferred = inferred || size == -1;
        plain = plain && size != 0;
        open += !size && !kept;
        sizes.push_back(size ? *size : kept ? 0 : -1);
    }
    return plain && open + inferred <= 1 ? c.ints(sizes) : c.sizes(*list);
}

void reshape(OnnxCall& c)
{
    const Argument* sizes = c.given("size") ? c.given("size") : c.given("shape");
    if (!sizes) {
        c.refuse("it changes the element type in place");
        return;
    }
    // If a size is 0, it must mean an empty dimension, as in PyTorch (`allowzero`).
    const auto* list = sizes->asList();
    const bool empty = list && std::any_of(list->begin(), list->end(), [&](const Argument& item) {
                           return c.fixed(item) == 0;
                       });
    OnnxAttributes attributes;
    if (empty)
        attributes.emplace_back("allowzero", 1);
    c.give(c.emit("Reshape", {c.in("self"), wantedSizes(c, *sizes)}, std::move(attributes)));
}

void reshapeAs(OnnxCall& c)
{
    c.give(c.emit("Reshape", {c.in("self"), c.emit("Shape", {c.in("other")})}));
}

/// The sizes of dimensions [from, to) of a value: numbers where they are fixed.
std::vector<std::string> sizesBetween(OnnxCall& c, const std::string& x, int from, int to)
{
    std::vector<std::string> parts;
    for (int dim = from; dim < to; ++dim) {
        const auto size = c.fixedSize("self", dim);
        parts.push_back(size ? c.ints({*size}) : c.sizeOf(x, dim));
    }
    return parts;
}

void flatten(OnnxCall& c)
{
    const int rank = c.rank("self");
    const std::int64_t start = c.wrapped(c.integer("start_dim", 0), rank);
    const std::int64_t end = c.wrapped(c.integer("end_dim", -1), rank);
    const std::string x = c.in("self");
    if (start == 1 && end == rank - 1 && rank > 1) {
        c.give(c.emit("Flatten", {x}, {{"axis", 1}}));
        return;
    }
    std::vector<std::int64_t> head(std::size_t(start), 0);
    head.push_back(-1);
    if (end == rank - 1 || rank == 0) {
        c.give(c.reshape(x, head));
        return;
    }
    std::vector<std::string> parts {c.ints(head)};
    for (std::string& size : sizesBetween(c, x, int(end) + 1, rank))
        parts.push_back(std::move(size));
    c.give(c.emit("Reshape", {x, c.emit("Concat", parts, {{"axis", 0}})}));
}

void unflatten(OnnxCall& c)
{
    const int rank = c.rank("self");
    const std::int64_t dim = c.wrapped(c.integer("dim", 0), rank);
    const std::string x = c.in("self");
    std::vector<std::string> parts = sizesBetween(c, x, 0, int(dim));
    parts.push_back(c.sizes(*c.given("sizes")));
    for (std::string& size : sizesBetween(c, x, int(dim) + 1, rank))
        parts.push_back(std::move(size));
    c.give(c.emit("Reshape", {x, c.emit("Concat", parts, {{"axis", 0}})}));
}

/// Removes only dimensions of size one.
void squeeze(OnnxCall& c)
{
    const int rank = c.rank("self");
    std::vector<std::int64_t> wanted = c.integers("dim"), axes;
    if (!c.has("dim"))
        wanted = inOrder(rank);
    for (const std::int64_t dim : wanted) {
        const auto size = c.fixedSize("self", dim);
        if (size == 1)
            axes.push_back(c.wrapped(dim, rank));
        else if (!size)
            c.refuse("it drops a dimension whose size is open");
    }
    const std::string x = c.in("self");
    c.give(axes.empty() ? x : c.squeeze(x, axes));
}

void unsqueeze(OnnxCall& c)
{
    c.give(c.unsqueeze(c.in("self"), {c.integer("dim", 0)}));
}

void permute(OnnxCall& c)
{
    std::vector<std::int64_t> order = c.integers("dims");
    for (std::int64_t& dim : order)
        dim = c.wrapped(dim, int(order.size()));
    c.give(c.transpose(c.in("self"), order));
}

void exchange(OnnxCall& c, std::int64_t a, std::int64_t b)
{
    const int rank = c.rank("self");
    auto order = inOrder(rank);
    const auto i = std::size_t(c.wrapped(a, rank)), j = std::size_t(c.wrapped(b, rank));
    if (i >= order.size() || j >= order.size()) {
        if (rank > 0)
            c.refuse("it names dimensions that its input lacks");
        c.give(c.in("self"));
        return;
    }
    std::swap(order[i], order[j]);
    c.give(c.transpose(c.in("self"), order));
}

void transpose(OnnxCall& c)
{
    const bool axes = c.has("axis0");
    exchange(c, c.integer(axes ? "axis0" : "dim0", 0), c.integer(axes ? "axis1" : "dim1", 1));
}

void matrixTranspose(OnnxCall& c)
{
    if (c.rank("self") < 2)
        c.give(c.in("self"));
    else
        exchange(c, -2, -1);
}

void reverseOrder(OnnxCall& c)
{
    auto order = inOrder(c.rank("self"));
    std::reverse(order.begin(), order.end());
    c.give(c.transpose(c.in("self"), order));
}

void moveDimensions(OnnxCall& c)
{
    const int rank = c.rank("self");
    const auto from = c.integers("source"), to = c.integers("destination");
    std::vector<std::int64_t> order(static_cast<std::size_t>(rank), -1), rest = inOrder(rank);
    for (std::size_t i = 0; i < from.size() && i < to.size(); ++i) {
        order.at(std::size_t(c.wrapped(to[i], rank))) = c.wrapped(from[i], rank);
        std::erase(rest, c.wrapped(from[i], rank));
    }
    for (std::int64_t& place : order)
        if (place < 0) {
            place = rest.front();
            rest.erase(rest.begin());
        }
    c.give(c.transpose(c.in("self"), order));
}

/// Size -1 keeps a dimension; ONNX's Expand uses 1 for that.
void expand(OnnxCall& c)
{
    const Argument* sizes = c.given("size") ? c.given("size") : c.given("shape");
    const auto* list = sizes ? sizes->asList() : nullptr;
    if (!list) {
        c.refuse("its sizes are made as the model runs");
        return;
    }
    Argument::List kept = *list;
    for (Argument& item : kept)
        if (c.fixed(item) == -1)
            item = Argument(1);
    c.give(c.emit("Expand", {c.in("self"), c.sizes(kept)}));
}

void expandAs(OnnxCall& c)
{
    c.give(c.emit("Expand", {c.in("self"), c.emit("Shape", {c.in("other")})}));
}

/// Repeats the tensor along each dimension; missing leading dimensions are added.
void repeat(OnnxCall& c)
{
    const char* name = c.has("repeats") ? "repeats" : "dims";
    const Argument* times = c.given(name);
    const auto* list = times ? times->asList() : nullptr;
    if (!list) {
        c.refuse("its repeats are made as the model runs");
        return;
    }
    const int rank = c.rank("self");
    const int missing = int(list->size()) - rank;
    Argument::List all = *list;
    for (int i = missing; i < 0; ++i)
        all.insert(all.begin(), Argument(1));
    std::vector<std::int64_t> axes;
    for (int i = 0; i < missing; ++i)
        axes.push_back(i);
    c.give(c.emit("Tile", {c.unsqueeze(c.in("self"), axes), c.sizes(all)}));
}

/// Repeats each element `repeats` times in succession.
void repeatElements(OnnxCall& c)
{
    const std::int64_t times = c.integer("repeats", 1);
    std::string x = c.in("self");
    int rank = c.rank("self");
    std::int64_t axis = 0;
    if (c.has("dim"))
        axis = c.wrapped(c.integer("dim", 0), rank);
    else {
        x = c.reshape(x, {-1});
        rank = 1;
    }
    std::vector<std::int64_t> copies(static_cast<std::size_t>(rank) + 1, 1);
    copies[std::size_t(axis) + 1] = times;
    const std::string wide = c.emit("Expand", {c.unsqueeze(x, {axis + 1}), c.ints(copies)});
    std::vector<std::int64_t> sizes(std::size_t(axis), 0);
    sizes.push_back(-1);
    if (axis == rank - 1) {
        c.give(c.reshape(wide, sizes));
        return;
    }
    std::vector<std::string> parts {c.ints(sizes)};
    for (int dim = int(axis) + 1; dim < rank; ++dim)
        parts.push_back(c.sizeOf(x, dim));
    c.give(c.emit("Reshape", {wide, c.emit("Concat", parts, {{"axis", 0}})}));
}

void pixelShuffle(OnnxCall& c)
{
    c.give(c.emit("DepthToSpace", {c.in("self")},
                  {{"blocksize", c.integer("upscale_factor", 1)}, {"mode", "CRD"}}));
}

/// [N, C, H*r, W*r] to [N, C*r*r, H, W]; the r*r parts of a channel are adjacent.
void pixelUnshuffle(OnnxCall& c)
{
    const std::int64_t r = c.integer("downscale_factor", 1);
    const auto channels = c.fixedSize("self", 1), height = c.fixedSize("self", 2),
               width = c.fixedSize("self", 3);
    if (c.rank("self") != 4 || !channels || !height || !width) {
        c.refuse("its input is not a batch of images of fixed size");
        return;
    }
    const std::string cut = c.reshape(c.in("self"), {-1, *channels, *height / r, r, *width / r, r});
    c.give(c.reshape(c.transpose(cut, {0, 1, 3, 5, 2, 4}),
                     {-1, *channels * r * r, *height / r, *width / r}));
}

void channelShuffle(OnnxCall& c)
{
    const std::int64_t groups = c.integer("groups", 1);
    const auto channels = c.fixedSize("self", 1);
    if (!channels) {
        c.refuse("its number of channels is open");
        return;
    }
    const std::string x = c.in("self");
    const std::string cut = c.reshape(x, {0, groups, *channels / groups, -1});
    const std::string mixed = c.transpose(cut, {0, 2, 1, 3});
    c.give(c.emit("Reshape", {mixed, c.emit("Shape", {x})}));
}

} // namespace

void addShapeHandlers(OnnxHandlers& table)
{
    table["view"] = table["reshape"] = table["_unsafe_view"] = table["_reshape_alias"] = reshape;
    table["view_as"] = table["reshape_as"] = reshapeAs;
    table["flatten"] = flatten;
    table["ravel"] = [](OnnxCall& c) { c.give(c.reshape(c.in("self"), {-1})); };
    table["unflatten"] = unflatten;
    table["squeeze"] = squeeze;
    table["unsqueeze"] = unsqueeze;
    table["permute"] = permute;
    table["transpose"] = table["swapaxes"] = table["swapdims"] = transpose;
    table["t"] = table["mT"] = table["adjoint"] = matrixTranspose;
    table["numpy_T"] = reverseOrder;
    table["movedim"] = table["moveaxis"] = moveDimensions;
    table["expand"] = table["broadcast_to"] = expand;
    table["expand_as"] = expandAs;
    table["repeat"] = table["tile"] = repeat;
    table["repeat_interleave"] = repeatElements;
    table["pixel_shuffle"] = pixelShuffle;
    table["pixel_unshuffle"] = pixelUnshuffle;
    table["channel_shuffle"] = table["native_channel_shuffle"] = channelShuffle;
}

} // namespace qs
