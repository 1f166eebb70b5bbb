// SPDX-License-Identifier: Apache-2.0
// Attention as products and a softmax, which every runtime supports.
#include "engine/execute/torch_types.h"
#include "engine/export/onnx/onnx_handlers.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace qs {

namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// The call's scale factor, by default 1 / sqrt(width of a head).
std::string factor(OnnxCall& c, const std::string& query)
{
    if (c.has("scale"))
        return c.scalar(c.number("scale", 1), DType::Float32);
    if (const auto width = c.fixedSize("query", -1))
        return c.scalar(1 / std::sqrt(double(*width)), DType::Float32);
    const std::string width = c.cast(c.sizeOf(query, -1), DType::Float32);
    return c.emit("Reciprocal", {c.emit("Sqrt", {width})});
}

/// Additive mask: 0 where `allowed` is true, minus infinity elsewhere.
std::string additive(OnnxCall& c, const std::string& allowed)
{
    return c.emit("Where",
                  {allowed, c.scalar(0, DType::Float32), c.scalar(kMinusInfinity, DType::Float32)});
}

/// Mask by which a query of [.., L, E] attends to keys of [.., S, E] up to its own position.
std::string causalMask(OnnxCall& c, const std::string& query, const std::string& key)
{
    const auto rows = c.fixedSize("query", -2), columns = c.fixedSize("key", -2);
    if (rows && columns)
        return c.constant(at::full({*rows, *columns}, kMinusInfinity, at::kFloat).triu(1),
                          "causal_mask");
    const std::string sizes
        = c.emit("Concat", {c.sizeOf(query, -2), c.sizeOf(key, -2)}, {{"axis", 0}});
    const std::string all = c.emit("Expand", {c.scalar(1, DType::Int64), sizes});
    return additive(c, c.cast(c.emit("Trilu", {all}, {{"upper", 0}}), DType::Bool));
}

/// Repeats heads of keys and values that several query heads share, once per query head.
std::string repeatedHeads(OnnxCall& c, const char* name, const std::string& value)
{
    const auto wanted = c.fixedSize("query", -3), own = c.fixedSize(name, -3);
    const int rank = c.rank(name);
    if (!wanted || !own || !*own) {
        c.refuse("its number of heads is open");
        return value;
    }
    if (*wanted == *own)
        return value;
    std::vector<std::int64_t> copies(static_cast<std::size_t>(rank) + 1, 1);
    copies[std::size_t(rank) - 2] = *wanted / *own;
    const std::string wide = c.emit("Expand", {c.unsqueeze(value, {-3}), c.ints(copies)});
    std::vector<std::string> sizes {c.ints(std::vector<std::int64_t>(std::size_t(rank) - 3, 0)),
                                    c.ints({*wanted}), c.sizeOf(value, -2), c.sizeOf(value, -1)};
    if (rank == 3)
        sizes.erase(sizes.begin());
    return c.emit("Reshape", {wide, c.emit("Concat", sizes, {{"axis", 0}})});
}

void attention(OnnxCall& c)
{
    const std::string query = c.in("query");
    std::string key = c.in("key"), value = c.in("value");
    if (c.flag("enable_gqa", false)) {
        key = repeatedHeads(c, "key", key);
        value = repeatedHeads(c, "value", value);
    }
    const std::string scaled = c.emit("Mul", {query, factor(c, query)});
    std::string scores = c.emit("MatMul", {scaled, c.swapLast(key, c.rank("key"))});
    if (c.flag("is_causal", false))
        scores = c.emit("Add", {scores, causalMask(c, query, key)});
    if (c.has("attn_mask")) {
        const bool isBool = c.dtype("attn_mask") == DType::Bool;
        scores = c.emit(
            "Add",
            {scores, isBool ? additive(c, c.in("attn_mask")) : c.in("attn_mask", DType::Float32)});
    }
    c.give(c.emit("MatMul", {c.emit("Softmax", {scores}, {{"axis", -1}}), value}));
}

} // namespace

void addAttentionHandlers(OnnxHandlers& table)
{
    table["scaled_dot_product_attention"] = attention;
}

} // namespace qs
