// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/torch_types.h"
#include "engine/export/onnx/onnx_handlers.h"

#include <ATen/ATen.h>

#include <limits>

namespace qs {

namespace {

void embedding(OnnxCall& c)
{
    c.give(c.emit("Gather", {c.in("weight"), c.in("indices", DType::Int64)}, {{"axis", 0}}));
}

/// The bag of each index: the number of offsets at or before its position, minus one.
std::string bagOfEach(OnnxCall& c, const std::string& indices, const std::string& offsets)
{
    const std::string count = c.emit("Size", {indices});
    const std::string places
        = c.emit("Range", {c.scalar(0, DType::Int64), count, c.scalar(1, DType::Int64)});
    const std::string started
        = c.emit("GreaterOrEqual", {c.unsqueeze(places, {1}), c.unsqueeze(offsets, {0})});
    const std::string counted = c.reduce("ReduceSum", c.cast(started, DType::Int64), {1}, false);
    return c.emit("Sub", {counted, c.scalar(1, DType::Int64)});
}

/// Reduces rows of a table by bags to sums, means or maxima; an empty bag gives zeros.
void embeddingBag(OnnxCall& c)
{
    const std::int64_t mode = c.integer("mode", 0);
    if (c.opset() < 18) {
        c.refuse("bags need operator set 18");
        return;
    }
    if (c.integer("padding_idx", -1) >= 0) {
        c.refuse("it passes over a padding index");
        return;
    }
    const std::string indices = c.in("indices", DType::Int64);
    std::string offsets = c.in("offsets", DType::Int64);
    if (c.flag("include_last_offset", false))
        offsets = c.slice(offsets, 0, 0, -1);
    std::string rows = c.emit("Gather", {c.in("weight"), indices}, {{"axis", 0}});
    if (c.has("per_sample_weights"))
        rows = c.emit("Mul", {rows, c.unsqueeze(c.in("per_sample_weights", DType::Float32), {1})});
    const std::string bags = c.unsqueeze(bagOfEach(c, indices, offsets), {1});
    const std::string width = c.slice(c.emit("Shape", {rows}), 0, 1, 2);
    const std::string shape = c.emit("Concat", {c.emit("Shape", {offsets}), width}, {{"axis", 0}});
    const std::string zeros = c.emit("Expand", {c.scalar(0, DType::Float32), shape});
    const std::string ones
        = c.emit("Expand", {c.scalar(1, DType::Float32), c.emit("Shape", {indices})});
    const std::string counts = c.unsqueeze(
        c.emit("ScatterND",
               {c.emit("Expand", {c.scalar(0, DType::Float32), c.emit("Shape", {offsets})}), bags,
                ones},
               {{"reduction", "add"}}),
        {1});
    std::string made;
    if (mode == 2) {
        const std::string least = c.emit(
            "Expand", {c.scalar(-std::numeric_limits<float>::max(), DType::Float32), shape});
        const std::string largest
            = c.emit("ScatterND", {least, bags, rows}, {{"reduction", "max"}});
        made = c.emit("Where",
                      {c.emit("Greater", {counts, c.scalar(0, DType::Float32)}), largest, zeros});
    } else {
        made = c.emit("ScatterND", {zeros, bags, rows}, {{"reduction", "add"}});
        if (mode == 1)
            made = c.emit("Div", {made, c.emit("Max", {counts, c.scalar(1, DType::Float32)})});
    }
    c.give(made);
}

} // namespace

void addEmbeddingHandlers(OnnxHandlers& table)
{
    table["embedding"] = embedding;
    table["embedding_bag"] = table["_embedding_bag"] = table["_embedding_bag_forward_only"]
        = embeddingBag;
}

} // namespace qs
