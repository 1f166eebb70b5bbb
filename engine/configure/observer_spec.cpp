// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/observer_spec.h"

#include <array>
#include <utility>

namespace qs {

namespace {

constexpr std::array<std::pair<ObserverKind, std::string_view>, 11> kObserverNames {{
    {ObserverKind::MinMax, "minmax"},
    {ObserverKind::MovingAverageMinMax, "moving_average_minmax"},
    {ObserverKind::PerChannelMinMax, "per_channel_minmax"},
    {ObserverKind::MovingAveragePerChannelMinMax, "moving_average_per_channel_minmax"},
    {ObserverKind::Histogram, "histogram"},
    {ObserverKind::FixedQParams, "fixed_qparams"},
    {ObserverKind::Placeholder, "placeholder"},
    {ObserverKind::ReuseInput, "reuse_input"},
    {ObserverKind::Noop, "noop"},
    {ObserverKind::Recording, "recording"},
    {ObserverKind::Identity, "identity"},
}};

constexpr std::array<std::pair<FakeQuantize, std::string_view>, 4> kFakeQuantizeNames {{
    {FakeQuantize::Plain, "fake_quantize"},
    {FakeQuantize::FixedQParams, "fixed_qparams_fake_quantize"},
    {FakeQuantize::FusedMovingAverage, "fused_moving_avg_obs_fake_quantize"},
    {FakeQuantize::Learnable, "learnable_fake_quantize"},
}};

constexpr std::array<std::pair<RangeMethod, std::string_view>, 5> kRangeNames {{
    {RangeMethod::Search, "search"},
    {RangeMethod::MinMax, "minmax"},
    {RangeMethod::Percentile, "percentile"},
    {RangeMethod::Entropy, "entropy"},
    {RangeMethod::Mse, "mse"},
}};

constexpr std::array<std::pair<QScheme, std::string_view>, 5> kSchemeNames {{
    {QScheme::PerTensorAffine, "per_tensor_affine"},
    {QScheme::PerTensorSymmetric, "per_tensor_symmetric"},
    {QScheme::PerChannelAffine, "per_channel_affine"},
    {QScheme::PerChannelSymmetric, "per_channel_symmetric"},
    {QScheme::PerChannelAffineFloatQParams, "per_channel_affine_float_qparams"},
}};

template<class Table, class Value>
std::string_view nameIn(const Table& table, Value value)
{
    for (const auto& [candidate, name] : table)
        if (candidate == value)
            return name;
    return "?";
}

template<class Value, class Table>
std::optional<Value> valueIn(const Table& table, std::string_view name)
{
    for (const auto& [candidate, text] : table)
        if (text == name)
            return candidate;
    return std::nullopt;
}

template<class Table>
std::vector<std::string> namesOf(const Table& table)
{
    std::vector<std::string> names;
    for (const auto& [value, name] : table)
        names.emplace_back(name);
    return names;
}

std::int64_t floorHalf(std::int64_t value)
{
    return value >= 0 ? value / 2 : -((-value + 1) / 2);
}

QuantRange dtypeRange(DType dtype, bool reduced)
{
    switch (dtype) {
    case DType::QInt8:
    case DType::Int8:
        return reduced ? QuantRange {-64, 63} : QuantRange {-128, 127};
    case DType::QUInt8:
    case DType::UInt8:
        return reduced ? QuantRange {0, 127} : QuantRange {0, 255};
    case DType::QInt32:
    case DType::Int32:
        return {-(std::int64_t(1) << 31), (std::int64_t(1) << 31) - 1};
    case DType::UInt16:
        return {0, 65535};
    case DType::Int16:
        return {-32768, 32767};
    default:
        return {0, 15};
    }
}

} // namespace

std::string_view observerKindName(ObserverKind kind)
{
    return nameIn(kObserverNames, kind);
}

std::optional<ObserverKind> observerKindFromName(std::string_view name)
{
    return valueIn<ObserverKind>(kObserverNames, name);
}

std::vector<std::string> observerKindNames()
{
    return namesOf(kObserverNames);
}

bool isMovingAverage(ObserverKind kind)
{
    return kind == ObserverKind::MovingAverageMinMax
        || kind == ObserverKind::MovingAveragePerChannelMinMax;
}

bool choosesQParams(ObserverKind kind)
{
    switch (kind) {
    case ObserverKind::Placeholder:
    case ObserverKind::ReuseInput:
    case ObserverKind::Noop:
    case ObserverKind::Recording:
    case ObserverKind::Identity:
        return false;
    default:
        return true;
    }
}

std::string_view fakeQuantizeName(FakeQuantize kind)
{
    return kind == FakeQuantize::None ? "" : nameIn(kFakeQuantizeNames, kind);
}

std::optional<FakeQuantize> fakeQuantizeFromName(std::string_view name)
{
    return valueIn<FakeQuantize>(kFakeQuantizeNames, name);
}

std::vector<std::string> fakeQuantizeNames()
{
    return namesOf(kFakeQuantizeNames);
}

std::string_view rangeMethodName(RangeMethod method)
{
    return nameIn(kRangeNames, method);
}

std::optional<RangeMethod> rangeMethodFromName(std::string_view name)
{
    return valueIn<RangeMethod>(kRangeNames, name);
}

std::vector<std::string> rangeMethodNames()
{
    return namesOf(kRangeNames);
}

std::string_view qschemeName(QScheme scheme)
{
    return nameIn(kSchemeNames, scheme);
}

std::optional<QScheme> qschemeFromName(std::string_view name)
{
    if (name.starts_with("torch."))
        name.remove_prefix(6);
    return valueIn<QScheme>(kSchemeNames, name);
}

bool isPerChannel(QScheme scheme)
{
    return scheme == QScheme::PerChannelAffine || scheme == QScheme::PerChannelSymmetric
        || scheme == QScheme::PerChannelAffineFloatQParams;
}

bool isSymmetric(QScheme scheme)
{
    return scheme == QScheme::PerTensorSymmetric || scheme == QScheme::PerChannelSymmetric;
}

QuantRange quantRange(const ObserverSpec& spec)
{
    if (!spec.quantMin || !spec.quantMax)
        return dtypeRange(spec.dtype, spec.reduceRange);
    if (spec.reduceRange)
        return {floorHalf(*spec.quantMin), floorHalf(*spec.quantMax)};
    return {*spec.quantMin, *spec.quantMax};
}

bool isPlainWeight(const ObserverSpec& weight)
{
    return weight.groupSize > 0 || weight.dtype == DType::Int8 || weight.dtype == DType::UInt8;
}

bool isIntegerDType(DType dtype)
{
    switch (dtype) {
    case DType::QUInt8:
    case DType::QInt8:
    case DType::QInt32:
    case DType::QUInt4x2:
    case DType::UInt8:
    case DType::Int8:
    case DType::Int16:
    case DType::Int32:
    case DType::UInt16:
        return true;
    default:
        return false;
    }
}

} // namespace qs
