// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/sweep/kept_value.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace qs {

namespace {

/// A copy in the very layout, which kernels round by: `clone` lays integers out anew.
at::Tensor copyOf(const at::Tensor& tensor)
{
    if (tensor.qscheme() != at::kPerTensorAffine)
        return tensor.clone();
    const auto all = std::int64_t(tensor.storage().nbytes() / tensor.itemsize());
    return tensor.as_strided({all}, {1}, 0)
        .clone()
        .as_strided(tensor.sizes(), tensor.strides(), tensor.storage_offset());
}

} // namespace

std::optional<std::size_t> keptBytes(const at::IValue& value)
{
    if (value.isNone() || value.isInt() || value.isDouble() || value.isBool())
        return 0;
    if (value.isTuple()) {
        std::size_t sum = 0;
        for (const at::IValue& part : value.toTupleRef().elements()) {
            const auto bytes = keptBytes(part);
            if (!bytes)
                return std::nullopt;
            sum += *bytes;
        }
        return sum;
    }
    if (!value.isTensor() || !value.toTensor().defined() || !value.toTensor().is_cpu()
        || value.toTensor().layout() != at::kStrided)
        return std::nullopt;
    return value.toTensor().storage().nbytes();
}

at::IValue unshared(const at::IValue& value)
{
    if (value.isTensor() && value.toTensor().defined() && value.toTensor().is_quantized())
        return copyOf(value.toTensor());
    if (!value.isTuple())
        return value;
    std::vector<at::IValue> parts;
    for (const at::IValue& part : value.toTupleRef().elements())
        parts.push_back(unshared(part));
    return c10::ivalue::Tuple::create(std::move(parts));
}

} // namespace qs
