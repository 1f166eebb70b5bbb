// SPDX-License-Identifier: Apache-2.0
#include "engine/export/torchscript/script_literals.h"

#include "engine/execute/torch_types.h"

#include <cmath>

namespace qs {

namespace {

/// LibTorch writes a whole number of at least 1e10 without a decimal point and then reads it as an
/// integer, also for a float such as a scale. Returns the adjacent double in that case, which is
/// the same float32.
double writtenAsFloat(double value)
{
    constexpr double kWithoutPoint = 1e10;
    const bool isWhole = std::abs(value) >= kWithoutPoint && std::trunc(value) == value;
    return isWhole ? std::nextafter(value, 0.0) : value;
}

} // namespace

bool isLiteral(const at::IValue& value)
{
    return value.isNone() || value.isInt() || value.isDouble() || value.isBool() || value.isString()
        || value.isDevice() || value.isIntList() || value.isDoubleList() || value.isBoolList();
}

at::IValue literalOf(const Argument& argument, const c10::TypePtr& type)
{
    const bool wantsFloat = type->kind() == c10::TypeKind::FloatType;
    if (const auto* v = argument.asBool())
        return at::IValue(*v);
    if (const auto* v = argument.asInt())
        return wantsFloat ? at::IValue(writtenAsFloat(double(*v))) : at::IValue(*v);
    if (const auto* v = argument.asDouble())
        return at::IValue(wantsFloat ? writtenAsFloat(*v) : *v);
    if (const auto* v = argument.asString())
        return at::IValue(*v);
    if (const auto* v = argument.asDType())
        return at::IValue(std::int64_t(toScalarType(*v)));
    if (const auto* v = std::get_if<Device>(&argument.value))
        return at::IValue(toTorchDevice(*v));
    if (const auto* v = std::get_if<LayoutTag>(&argument.value))
        return at::IValue(std::int64_t(toLayout(v->name).value_or(at::kStrided)));
    if (const auto* v = std::get_if<MemoryFormatTag>(&argument.value))
        return at::IValue(
            std::int64_t(toMemoryFormat(v->name).value_or(at::MemoryFormat::Contiguous)));
    if (const auto* v = std::get_if<ComplexNumber>(&argument.value))
        return at::IValue(c10::complex<double>(v->real, v->imaginary));
    return {};
}

} // namespace qs
