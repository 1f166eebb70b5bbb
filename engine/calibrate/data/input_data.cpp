// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/input_data.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/calibrate/data/element_types.h"
#include "engine/execute/torch_types.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

std::string shapeText(const std::vector<std::int64_t>& sizes)
{
    std::string out = "[";
    for (std::size_t i = 0; i < sizes.size(); ++i)
        out += (i ? ", " : "") + std::to_string(sizes[i]);
    return out + "]";
}

std::string placeText(const at::Tensor& tensor, std::int64_t flat, std::int64_t firstRow)
{
    std::string out;
    for (std::int64_t d = tensor.dim(); d-- > 0;) {
        const std::int64_t index = flat % tensor.size(d) + (d == 0 ? firstRow : 0);
        out = std::to_string(index) + (out.empty() ? "" : ", ") + out;
        flat /= tensor.size(d);
    }
    return "[" + out + "]";
}

Error misfit(const std::string& what, const Node& input, const std::string& wanted,
             const std::string& given)
{
    return makeError(ErrorCode::BadInput,
                     what + " does not fit input '" + input.name + "': " + wanted + " is expected, "
                         + given + " is given");
}

// Returns the index of the first element with an all-ones exponent (NaN or Inf); -1 if none. Avoids
// LibTorch's operators, which would start a second set of worker threads for the reading thread.
template<class Word>
std::int64_t firstWithExponent(const at::Tensor& tensor, Word exponent)
{
    const auto* words = static_cast<const Word*>(tensor.const_data_ptr());
    constexpr std::int64_t kBlock = 4096;
    const std::int64_t count = tensor.numel();
    for (std::int64_t begin = 0; begin < count; begin += kBlock) {
        const std::int64_t end = std::min(begin + kBlock, count);
        bool found = false;
        for (std::int64_t i = begin; i < end; ++i)
            found |= (words[i] & exponent) == exponent;
        for (std::int64_t i = begin; found && i < end; ++i)
            if ((words[i] & exponent) == exponent)
                return i;
    }
    return -1;
}

std::int64_t firstNonFinite(const at::Tensor& tensor)
{
    switch (tensor.scalar_type()) {
    case at::kFloat:
        return firstWithExponent<std::uint32_t>(tensor, 0x7f800000U);
    case at::kDouble:
        return firstWithExponent<std::uint64_t>(tensor, 0x7ff0000000000000U);
    case at::kHalf:
        return firstWithExponent<std::uint16_t>(tensor, 0x7c00U);
    case at::kBFloat16:
        return firstWithExponent<std::uint16_t>(tensor, 0x7f80U);
    default:
        return -1;
    }
}

/// Returns the error for a tensor that contains NaN or Inf; nullopt if it contains none.
std::optional<Error> findNonFinite(const at::Tensor& tensor, const std::string& what,
                                   std::int64_t firstRow)
{
    const std::int64_t at = firstNonFinite(tensor);
    if (at < 0)
        return std::nullopt;
    const bool nan = at::isnan(tensor.flatten()[at]).item<bool>();
    return makeError(ErrorCode::Numeric,
                     what + " holds " + (nan ? "NaN" : "Inf") + " at index "
                         + placeText(tensor, at, firstRow))
        .withHint("clean the data");
}

DType wantedType(const Node& input)
{
    return input.outputs.at(0).type.dtype;
}

} // namespace

std::string elementText(const at::Tensor& tensor, std::int64_t flat)
{
    const at::Scalar value = tensor.flatten()[flat].item();
    return value.isFloatingPoint() ? numberText(value.toDouble())
        : value.isBoolean()        ? value.toBool() ? "true" : "false"
                                   : std::to_string(value.toLong());
}

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

DataForm formOf(const StoredTensor& stored)
{
    return {stored.layout.dtype, stored.layout.sizes};
}

at::IValue outline(const std::vector<std::int64_t>& sizes)
{
    return at::empty(sizes, at::TensorOptions(at::kMeta));
}

std::string inputNames(const std::vector<const Node*>& inputs)
{
    std::string out;
    for (const Node* input : inputs)
        out += (out.empty() ? "'" : ", '") + input->name + "'";
    return out;
}

Error namedError(Error error, const std::string& what)
{
    error.message = what + " " + error.message;
    return error;
}

void noteTypeChange(DType given, const Node& input, const std::string& what)
{
    const DType wanted = wantedType(input);
    const TypeChange change = typeChange(given, wanted);
    if (change == TypeChange::None || !isFloating(wanted))
        return; // conversions to integers are exact or rejected
    const bool isNarrower = dtypeSize(wanted) <= dtypeSize(given);
    note(what + " is " + std::string(dtypeName(given)) + ": it is "
         + (change == TypeChange::Rounded && isNarrower ? "rounded" : "converted") + " to the "
         + std::string(dtypeName(wanted)) + " that input '" + input.name + "' takes");
}

Result<void> checkForm(const DataForm& form, const Node& input, const std::string& what,
                       bool checkFirst)
{
    const ValueType& type = input.outputs.at(0).type;
    if (type.kind != ValueKind::Tensor)
        return fail(makeError(ErrorCode::Unsupported,
                              "input '" + input.name + "' is not a tensor: data cannot feed it"));
    if (typeChange(form.dtype, type.dtype) == TypeChange::Refused) {
        const auto wanted = std::string(dtypeName(type.dtype));
        return fail(misfit(what, input, wanted, std::string(dtypeName(form.dtype)))
                        .withHint("convert the data to " + wanted));
    }
    if (!type.shapeKnown)
        return {};
    const std::size_t rank = type.shape.size();
    if (form.sizes.size() != rank)
        return fail(misfit(what, input, "rank " + std::to_string(rank),
                           "rank " + std::to_string(form.sizes.size()) + " (shape "
                               + shapeText(form.sizes) + ")"));
    for (std::size_t d = checkFirst ? 0 : 1; d < rank; ++d) {
        const Dim& dim = type.shape[d];
        if (!dim.isSymbolic() && dim.size >= 0 && dim.size != form.sizes[d])
            return fail(
                misfit(what, input,
                       "size " + std::to_string(dim.size) + " in dimension " + std::to_string(d),
                       "shape " + shapeText(form.sizes)));
    }
    return {};
}

Result<ReadyInput> readyInput(const at::Tensor& tensor, const Node& input, const std::string& what,
                              std::int64_t firstRow)
{
    ReadyInput ready {tensor.contiguous(), std::nullopt};
    const at::Tensor dense = ready.tensor;
    ready.notFinite = findNonFinite(dense, what, firstRow);
    const DType wanted = wantedType(input);
    const DType given = fromScalarType(dense.scalar_type());
    if (given == wanted || wanted == DType::Unknown)
        return ready;
    const ChangedTensor changed = changeType(dense, wanted);
    const std::string type(dtypeName(wanted));
    if (changed.misfit)
        return fail(
            makeError(ErrorCode::BadInput,
                      what + " holds " + elementText(dense, *changed.misfit) + " at index "
                          + placeText(dense, *changed.misfit, firstRow) + ", which the " + type
                          + " of input '" + input.name + "' cannot hold")
                .withHint("give whole numbers in its range, or convert the data to " + type));
    ready.tensor = changed.tensor;
    const bool grew = firstNonFinite(changed.tensor) >= 0
        && (!ready.notFinite || changed.tensor.isfinite().ne(dense.isfinite()).any().item<bool>());
    if (grew)
        return fail(makeError(ErrorCode::Numeric, what + " holds a value too large for " + type)
                        .withHint("clean or scale the data"));
    return ready;
}

Result<void> addInput(Batch& batch, const at::Tensor& tensor, const Node& input,
                      const std::string& what, std::int64_t firstRow, const std::string& file)
{
    auto ready = readyInput(tensor, input, what, firstRow);
    if (!ready)
        return fail(std::move(ready).error().inFile(file));
    batch.notFinite.resize(batch.inputs.size());
    if (ready->notFinite)
        batch.notFinite.emplace_back(std::move(*ready->notFinite).inFile(file));
    batch.inputs.emplace_back(std::move(ready->tensor));
    return {};
}

} // namespace qs
