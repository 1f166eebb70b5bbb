// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/element_types.h"

#include "engine/calibrate/data/stored_tensor.h"
#include "engine/execute/torch_types.h"

#include <ATen/Dispatch.h>

#include <cmath>
#include <type_traits>
#include <utility>

namespace qs {

namespace {

bool isInteger(DType dtype)
{
    switch (dtype) {
    case DType::Bool:
    case DType::UInt8:
    case DType::Int8:
    case DType::Int16:
    case DType::Int32:
    case DType::Int64:
        return true;
    default:
        return false;
    }
}

bool isOrdinaryFloat(DType dtype)
{
    return dtype == DType::Float16 || dtype == DType::BFloat16 || dtype == DType::Float32
        || dtype == DType::Float64;
}

// From here on a double does not represent every integer.
constexpr std::int64_t kExact = std::int64_t(1) << 53;

template<class T>
bool holds(std::int64_t value)
{
    if constexpr (std::is_same_v<T, bool>)
        return value == 0 || value == 1;
    else if constexpr (std::is_integral_v<T>)
        return std::in_range<T>(value);
    else
        return value >= -kExact && value <= kExact
            && double(static_cast<T>(double(value))) == double(value);
}

template<class T>
bool holds(double value)
{
    if constexpr (std::is_integral_v<T>)
        return std::abs(value) <= double(kExact) && value == std::trunc(value)
            && holds<T>(std::int64_t(value));
    else
        return true; // rounded
}

// Converts every value via a type that represents it exactly.
template<class Between, class From, class To>
std::optional<std::int64_t> change(const From* from, To* to, std::int64_t count)
{
    for (std::int64_t i = 0; i < count; ++i) {
        const auto value = static_cast<Between>(from[i]);
        if (!holds<To>(value))
            return i;
        to[i] = static_cast<To>(value);
    }
    return std::nullopt;
}

template<class From>
// NOLINTNEXTLINE(readability-function-size): the macro has a case a type
void changeFrom(const at::Tensor& tensor, ChangedTensor& out)
{
    using Between = std::conditional_t<std::is_integral_v<From>, std::int64_t, double>;
    const auto* from = tensor.const_data_ptr<From>();
    AT_DISPATCH_ALL_TYPES_AND3(
        at::kBool, at::kHalf, at::kBFloat16, out.tensor.scalar_type(), "changeType", [&] {
            out.misfit
                = change<Between>(from, out.tensor.mutable_data_ptr<scalar_t>(), tensor.numel());
        });
}

} // namespace

TypeChange typeChange(DType given, DType wanted)
{
    if (given == wanted || wanted == DType::Unknown)
        return TypeChange::None;
    const bool known = (isInteger(given) || isOrdinaryFloat(given))
        && (isInteger(wanted) || isOrdinaryFloat(wanted));
    if (!known)
        return TypeChange::Refused;
    return isOrdinaryFloat(given) && isOrdinaryFloat(wanted) ? TypeChange::Rounded
                                                             : TypeChange::Exact;
}

// NOLINTNEXTLINE(readability-function-size): the macro has a case a type
ChangedTensor changeType(const at::Tensor& tensor, DType wanted)
{
    ChangedTensor out {batchTensor(tensor.sizes(), toScalarType(wanted)), std::nullopt};
    AT_DISPATCH_ALL_TYPES_AND3(at::kBool, at::kHalf, at::kBFloat16, tensor.scalar_type(),
                               "changeType", [&] { changeFrom<scalar_t>(tensor, out); });
    return out;
}

} // namespace qs
