// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/input_check.h"

#include "engine/execute/torch_types.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

std::string shapeText(at::IntArrayRef sizes)
{
    std::string out = "[";
    for (std::size_t i = 0; i < sizes.size(); ++i)
        out += (i ? ", " : "") + std::to_string(sizes[i]);
    return out + "]";
}

std::string placeText(const at::Tensor& tensor, std::int64_t flat)
{
    std::string out;
    for (std::int64_t d = tensor.dim(); d-- > 0;) {
        out = std::to_string(flat % tensor.size(d)) + (out.empty() ? "" : ", ") + out;
        flat /= tensor.size(d);
    }
    return "[" + out + "]";
}

Error misfit(const std::string& what, const Node& input, const std::string& wanted,
             const std::string& given)
{
    return makeError(ErrorCode::BadInput,
                     what + " does not fit input '" + input.name + "': " + wanted + " is wanted, "
                         + given + " is given");
}

Result<void> checkFinite(const at::Tensor& tensor, const std::string& what)
{
    if (!tensor.is_floating_point())
        return {};
    const at::Tensor bad = at::isfinite(tensor).logical_not().flatten();
    if (!bad.any().item<bool>())
        return {};
    const auto at = bad.to(at::kByte).argmax().item<std::int64_t>();
    const bool nan = at::isnan(tensor.flatten()[at]).item<bool>();
    return fail(
        makeError(ErrorCode::Numeric,
                  what + " holds " + (nan ? "NaN" : "Inf") + " at index " + placeText(tensor, at))
            .withHint("clean the data"));
}

} // namespace

std::optional<std::int64_t> fixedBatch(const Node& input)
{
    const ValueType& type = input.outputs.at(0).type;
    if (type.kind != ValueKind::Tensor || !type.shapeKnown || type.shape.empty())
        return std::nullopt;
    const Dim& first = type.shape[0];
    if (first.isSymbolic() || first.size < 0)
        return std::nullopt;
    return first.size;
}

Result<void> checkInput(const at::Tensor& tensor, const Node& input, const std::string& what,
                        bool checkFirst)
{
    const ValueType& type = input.outputs.at(0).type;
    if (type.kind != ValueKind::Tensor)
        return fail(makeError(ErrorCode::Unsupported,
                              "input '" + input.name + "' is no tensor: data cannot feed it"));
    if (type.dtype != DType::Unknown && toScalarType(type.dtype) != tensor.scalar_type()) {
        const auto given = std::string(dtypeName(fromScalarType(tensor.scalar_type())));
        const auto wanted = std::string(dtypeName(type.dtype));
        return fail(misfit(what, input, wanted, given).withHint("convert the data to " + wanted));
    }
    if (type.shapeKnown) {
        const auto rank = std::int64_t(type.shape.size());
        if (tensor.dim() != rank)
            return fail(misfit(what, input, "rank " + std::to_string(rank),
                               "rank " + std::to_string(tensor.dim()) + " (shape "
                                   + shapeText(tensor.sizes()) + ")"));
        for (std::int64_t d = checkFirst ? 0 : 1; d < rank; ++d) {
            const Dim& dim = type.shape[std::size_t(d)];
            if (!dim.isSymbolic() && dim.size >= 0 && dim.size != tensor.size(d))
                return fail(misfit(what, input,
                                   "size " + std::to_string(dim.size) + " in dimension "
                                       + std::to_string(d),
                                   "shape " + shapeText(tensor.sizes())));
        }
    }
    return checkFinite(tensor, what);
}

} // namespace qs
