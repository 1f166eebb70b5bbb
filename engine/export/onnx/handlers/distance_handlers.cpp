// SPDX-License-Identifier: Apache-2.0
// Distances and norms of vectors.
#include "engine/export/onnx/onnx_handlers.h"

namespace qs {

namespace {

/// The p-norm along the axes; refuses other p than 1 and 2.
std::string norm(OnnxCall& c, const std::string& x, double p, std::vector<std::int64_t> axes,
                 bool keep)
{
    if (p == 2)
        return c.reduce("ReduceL2", x, std::move(axes), keep);
    if (p != 1)
        c.refuse("its norm is neither the first nor the second");
    return c.reduce("ReduceL1", x, std::move(axes), keep);
}

/// Cosine similarity; lengths below eps count as eps.
void cosineSimilarity(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const std::int64_t dim = c.axis("dim", 1, "x1");
    const std::string least = c.scalar(c.number("eps", 1e-8), dtype);
    const auto direction = [&](const char* name) {
        const std::string x = c.in(name, dtype);
        return c.emit("Div", {x, c.emit("Max", {norm(c, x, 2, {dim}, true), least})});
    };
    if (c.rank("x1") != c.rank("x2"))
        c.refuse("its operands have other numbers of dimensions");
    const std::string product = c.emit("Mul", {direction("x1"), direction("x2")});
    c.give(c.reduce("ReduceSum", product, {dim}, false));
}

/// The norm of the difference plus eps.
void pairwiseDistance(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const std::string apart = c.emit("Sub", {c.in("x1", dtype), c.in("x2", dtype)});
    const std::string moved = c.emit("Add", {apart, c.scalar(c.number("eps", 1e-6), dtype)});
    c.give(norm(c, moved, c.number("p", 2), {-1}, c.flag("keepdim", false)));
}

/// Distances from each row of one input to each row of the other.
void allDistances(OnnxCall& c)
{
    const DType dtype = c.resultDType();
    const std::string rows = c.unsqueeze(c.in("x1", dtype), {-2});
    const std::string columns = c.unsqueeze(c.in("x2", dtype), {-3});
    c.give(norm(c, c.emit("Sub", {rows, columns}), c.number("p", 2), {-1}, false));
}

/// The norm of all elements, or of the given dimensions; only the Frobenius norm.
void linearNorm(OnnxCall& c)
{
    if (c.has("ord") && !(c.given("ord")->asString() && c.text("ord") == "fro")) {
        c.refuse("only the Frobenius norm can be exported");
        return;
    }
    const std::string x = c.in(c.has("A") ? "A" : "self", c.resultDType());
    const bool isMatrix = c.node().target.starts_with("aten.linalg_matrix_norm");
    std::vector<std::int64_t> axes = c.integers(
        "dim", isMatrix ? std::vector<std::int64_t> {-2, -1} : std::vector<std::int64_t>());
    c.give(c.reduce("ReduceL2", x, std::move(axes), c.flag("keepdim", false)));
}

} // namespace

void addDistanceHandlers(OnnxHandlers& table)
{
    table["cosine_similarity"] = cosineSimilarity;
    table["pairwise_distance"] = pairwiseDistance;
    table["cdist"] = table["_cdist_forward"] = allDistances;
    table["linalg_norm"] = table["linalg_matrix_norm"] = linearNorm;
}

} // namespace qs
