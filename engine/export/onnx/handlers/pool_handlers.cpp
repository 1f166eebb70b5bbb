// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/onnx_handlers.h"

#include <ATen/ATen.h>

#include <string>

namespace qs {

namespace {

/// Number of pooled dimensions, from the digit in the operator's name ("avg_pool2d").
std::size_t pooledDimensions(const std::string& target)
{
    const auto digit = target.find("pool");
    return digit == std::string::npos || digit + 4 >= target.size()
        ? 2
        : std::size_t(target[digit + 4] - '0');
}

std::vector<std::int64_t> perPooledDimension(OnnxCall& c, const char* name, std::size_t spatial,
                                             std::vector<std::int64_t> otherwise)
{
    std::vector<std::int64_t> values = c.integers(name);
    if (values.empty())
        values = std::move(otherwise);
    values.resize(spatial, values.empty() ? 1 : values[0]);
    return values;
}

struct Pool
{
    std::size_t spatial;
    bool lone; ///< a sample without a batch dimension
    std::string x;
    OnnxAttributes attributes;
};

Pool readPool(OnnxCall& c)
{
    Pool pool;
    pool.spatial = pooledDimensions(c.node().target);
    pool.lone = std::size_t(c.rank("self")) == pool.spatial + 1;
    pool.x = c.in("self");
    if (pool.lone)
        pool.x = c.unsqueeze(pool.x, {0});
    const auto kernel = perPooledDimension(c, "kernel_size", pool.spatial, {1});
    std::vector<std::int64_t> pads = perPooledDimension(c, "padding", pool.spatial,
                                                        std::vector<std::int64_t>(pool.spatial, 0));
    const std::vector<std::int64_t> after = pads;
    pads.insert(pads.end(), after.begin(), after.end());
    pool.attributes = {{"kernel_shape", kernel},
                       {"strides", perPooledDimension(c, "stride", pool.spatial, kernel)},
                       {"pads", pads},
                       {"ceil_mode", c.flag("ceil_mode", false)}};
    return pool;
}

std::string finished(OnnxCall& c, const Pool& pool, const std::string& made)
{
    return pool.lone ? c.squeeze(made, {0}) : made;
}

void averagePool(OnnxCall& c)
{
    if (c.has("divisor_override"))
        c.refuse("its divisor is given (divisor_override)");
    Pool pool = readPool(c);
    pool.attributes.emplace_back("count_include_pad", c.flag("count_include_pad", true));
    c.give(finished(c, pool, c.emit("AveragePool", {pool.x}, pool.attributes)));
}

void addDilations(OnnxCall& c, Pool& pool)
{
    pool.attributes.emplace_back("dilations", perPooledDimension(c, "dilation", pool.spatial, {1}));
}

void maxPool(OnnxCall& c)
{
    Pool pool = readPool(c);
    addDilations(c, pool);
    c.give(finished(c, pool, c.emit("MaxPool", {pool.x}, pool.attributes)));
}

/// ONNX returns indices within the whole tensor, PyTorch within one channel.
void maxPoolWithPlaces(OnnxCall& c)
{
    Pool pool = readPool(c);
    addDilations(c, pool);
    const auto made = c.emitMany("MaxPool", {pool.x}, 2, pool.attributes);
    std::vector<std::int64_t> spatial;
    for (std::size_t i = 0; i < pool.spatial; ++i)
        spatial.push_back(std::int64_t(i) + 2);
    const std::string sizes
        = c.emit("Gather", {c.emit("Shape", {pool.x}), c.ints(spatial)}, {{"axis", 0}});
    const std::string plane = c.emit("ReduceProd", {sizes}, {{"keepdims", 1}});
    const std::string places = c.emit("Mod", {made[1], plane});
    const std::string value = finished(c, pool, made[0]);
    c.give(finished(c, pool, places), 1);
    c.give(value, 0);
}

/// Matrix [bins, size] that averages a dimension over bins.
at::Tensor averagingMatrix(std::int64_t size, std::int64_t bins)
{
    at::Tensor matrix = at::zeros({bins, size});
    for (std::int64_t bin = 0; bin < bins; ++bin) {
        const std::int64_t start = bin * size / bins;
        const std::int64_t end = ((bin + 1) * size + bins - 1) / bins;
        matrix[bin].slice(0, start, end).fill_(1.0 / double(end - start));
    }
    return matrix;
}

/// Adaptive averages over bins of unequal width, by matrix products over the last dimension and
/// then over the one before it.
std::string averagedBins(OnnxCall& c, const std::string& x, const std::vector<std::int64_t>& sizes,
                         const std::vector<std::int64_t>& bins)
{
    std::string wide = c.emit(
        "MatMul", {x, c.constant(averagingMatrix(sizes.back(), bins.back()).t(), "averages")});
    if (sizes.size() == 1)
        return wide;
    if (sizes.size() == 2)
        return c.emit("MatMul", {c.constant(averagingMatrix(sizes[0], bins[0]), "averages"), wide});
    c.refuse("bins of unequal width in three dimensions");
    return wide;
}

void adaptivePool(OnnxCall& c, bool average)
{
    const std::size_t spatial = pooledDimensions(c.node().target);
    const int rank = c.rank("self");
    const bool lone = std::size_t(rank) == spatial + 1;
    std::vector<std::int64_t> bins, sizes;
    const Argument* wanted = c.given("output_size");
    const auto* list = wanted ? wanted->asList() : nullptr;
    bool all = true, even = true, one = true;
    for (std::size_t i = 0; i < spatial; ++i) {
        const auto size = c.fixedSize("self", std::int64_t(i) - std::int64_t(spatial));
        const Argument& item = list ? (*list)[list->size() == 1 ? 0 : i] : *wanted;
        const auto bin = item.isNone() ? size : c.fixed(item);
        all = all && size && bin;
        bins.push_back(bin.value_or(0));
        sizes.push_back(size.value_or(0));
        one = one && bin == 1;
        even = even && size && bin && *bin > 0 && *size % *bin == 0;
    }
    std::string x = c.in("self");
    if (lone)
        x = c.unsqueeze(x, {0});
    std::string made;
    if (one) {
        made = c.emit(average ? "GlobalAveragePool" : "GlobalMaxPool", {x});
    } else if (even) {
        std::vector<std::int64_t> kernel;
        for (std::size_t i = 0; i < spatial; ++i)
            kernel.push_back(sizes[i] / bins[i]);
        made = c.emit(average ? "AveragePool" : "MaxPool", {x},
                      {{"kernel_shape", kernel}, {"strides", kernel}});
    } else if (all && average) {
        made = averagedBins(c, x, sizes, bins);
    } else {
        c.refuse(all ? "its bins are not equally wide" : "the size that it pools is open");
        return;
    }
    c.give(lone ? c.squeeze(made, {0}) : made);
}

} // namespace

void addPoolHandlers(OnnxHandlers& table)
{
    for (const char* digit : {"1d", "2d", "3d"}) {
        const std::string end = digit;
        table["avg_pool" + end] = averagePool;
        table["max_pool" + end] = maxPool;
        table["max_pool" + end + "_with_indices"] = maxPoolWithPlaces;
        table["adaptive_avg_pool" + end] = table["_adaptive_avg_pool" + end]
            = [](OnnxCall& c) { adaptivePool(c, true); };
        table["adaptive_max_pool" + end] = [](OnnxCall& c) { adaptivePool(c, false); };
    }
}

} // namespace qs
