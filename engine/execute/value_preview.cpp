// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/value_preview.h"

#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/tensor_store.h"
#include "engine/execute/value_conversion.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <span>
#include <sstream>

namespace qs {

namespace {

constexpr std::int64_t kFirst = 12;
constexpr std::int64_t kBins = 40;
/// Least number of elements for which a histogram is made.
constexpr std::int64_t kWorthAHistogram = 64;
/// Number of elements that are converted to double at a time, between checks for a cancel.
constexpr std::int64_t kChunk = 1 << 20;
constexpr std::size_t kLongestText = 80;

std::string typeText(const at::Tensor& tensor)
{
    return typeOfTensor(tensor).text();
}

std::string scalarText(const at::Tensor& tensor)
{
    if (tensor.scalar_type() == at::kBool)
        return tensor.item<bool>() ? "True" : "False";
    if (at::isIntegralType(tensor.scalar_type(), false))
        return std::to_string(tensor.item<std::int64_t>());
    return numberText(tensor.item<double>(), 6);
}

/// The values of a tensor; a quantized one is dequantized.
at::Tensor realOf(const at::Tensor& tensor)
{
    return tensor.is_quantized() ? tensor.dequantize() : tensor;
}

bool isReal(const at::Tensor& tensor)
{
    return tensor.defined() && tensor.layout() == at::kStrided && !tensor.is_complex();
}

template<class Visit>
Result<void> forEachChunk(const at::Tensor& flat, const JobContext& job, Visit&& visit)
{
    for (std::int64_t at = 0; at < flat.numel(); at += kChunk) {
        QS_CHECK(job.check());
        const std::int64_t count = std::min(kChunk, flat.numel() - at);
        const at::Tensor part = flat.narrow(0, at, count).to(at::kDouble).contiguous();
        visit(std::span(part.const_data_ptr<double>(), std::size_t(count)));
    }
    return {};
}

Result<void> addExtremes(ValuePreview& out, const at::Tensor& flat, const JobContext& job)
{
    double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
    const auto inspect = [&](std::span<const double> values) {
        for (const double value : values) {
            if (!std::isfinite(value)) {
                ++out.nonFinite;
                continue;
            }
            low = std::min(low, value);
            high = std::max(high, value);
            sum += value;
        }
    };
    QS_CHECK(forEachChunk(flat, job, inspect));
    if (const std::int64_t finite = out.count - out.nonFinite; finite > 0) {
        out.min = low;
        out.max = high;
        out.mean = sum / double(finite);
    }
    return {};
}

Result<void> addHistogram(ValuePreview& out, const at::Tensor& flat, const JobContext& job)
{
    if (out.count < kWorthAHistogram || !out.min || !(*out.min < *out.max))
        return {};
    out.histogram.assign(std::size_t(kBins), 0);
    const double scale = double(kBins) / (*out.max - *out.min);
    return forEachChunk(flat, job, [&](std::span<const double> values) {
        for (const double value : values)
            if (std::isfinite(value)) {
                const auto bin = std::int64_t((value - *out.min) * scale);
                ++out.histogram[std::size_t(std::min(bin, kBins - 1))];
            }
    });
}

Result<ValuePreview> previewTensor(const at::Tensor& tensor, const JobContext& job)
{
    ValuePreview out;
    out.type = typeText(tensor);
    out.count = tensor.numel();
    if (!isReal(tensor))
        return out;
    const at::Tensor flat = realOf(tensor).reshape({-1});
    QS_CHECK(forEachChunk(
        flat.narrow(0, 0, std::min(kFirst, out.count)), job,
        [&](std::span<const double> values) { out.first.assign(values.begin(), values.end()); }));
    if (out.count == 1)
        out.text = scalarText(realOf(tensor));
    QS_CHECK(addExtremes(out, flat, job));
    QS_CHECK(addHistogram(out, flat, job));
    return out;
}

ValuePreview previewObject(const at::IValue& value)
{
    ValuePreview out;
    out.type = value.tagKind();
    std::ostringstream text;
    text << value;
    out.text = text.str();
    if (out.text.size() > kLongestText) {
        out.text.resize(kLongestText);
        out.text += "…";
    }
    return out;
}

Result<at::IValue> storedValue(const Graph& graph, const Node& node)
{
    const auto store = tensorsOf(graph);
    if (!node.isStored() || !store)
        return fail(makeError(ErrorCode::NotFound, "the node holds no value").atNode(node.name));
    auto value = store->get(node.tensor);
    if (!value)
        return fail(std::move(value).error().atNode(node.name));
    return value;
}

/// Whether, by its type in the graph, the value may be a single number, to avoid reading weights.
bool mayBeScalar(const Node& node)
{
    if (!node.isStored())
        return false;
    if (node.outputs.empty() || node.outputs.front().type.kind != ValueKind::Tensor)
        return false;
    const ValueType& type = node.outputs.front().type;
    for (const Dim& dim : type.shape)
        if (dim.size != 1)
            return false;
    return type.shapeKnown;
}

} // namespace

Result<ValuePreview> previewValue(const Graph& graph, NodeId node, const JobContext& job)
{
    const InferenceScope inference;
    return guardTorchValue<ValuePreview>([&]() -> Result<ValuePreview> {
        QS_TRY(const at::IValue value, storedValue(graph, graph.get(node)));
        if (value.isTensor() && value.toTensor().defined())
            return previewTensor(value.toTensor(), job);
        return previewObject(value);
    });
}

Result<ScalarTexts> scalarTexts(const Graph& graph, const JobContext& job)
{
    const InferenceScope inference;
    return guardTorchValue<ScalarTexts>([&]() -> Result<ScalarTexts> {
        ScalarTexts out;
        for (const NodePtr& node : graph.nodes()) {
            if (!mayBeScalar(*node))
                continue;
            QS_CHECK(job.check());
            const auto value = storedValue(graph, *node);
            if (value && value->isTensor() && isReal(value->toTensor())
                && value->toTensor().numel() == 1)
                out[node->id] = scalarText(realOf(value->toTensor()));
        }
        return out;
    });
}

} // namespace qs
