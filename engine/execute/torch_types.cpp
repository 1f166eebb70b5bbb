// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/torch_types.h"

#include <array>
#include <utility>

namespace qs {

namespace {

constexpr std::array<std::pair<DType, at::ScalarType>, 21> kPairs {{
    {DType::Bool, at::ScalarType::Bool},
    {DType::UInt8, at::ScalarType::Byte},
    {DType::Int8, at::ScalarType::Char},
    {DType::Int16, at::ScalarType::Short},
    {DType::Int32, at::ScalarType::Int},
    {DType::Int64, at::ScalarType::Long},
    {DType::Float16, at::ScalarType::Half},
    {DType::BFloat16, at::ScalarType::BFloat16},
    {DType::Float32, at::ScalarType::Float},
    {DType::Float64, at::ScalarType::Double},
    {DType::Complex64, at::ScalarType::ComplexFloat},
    {DType::Complex128, at::ScalarType::ComplexDouble},
    {DType::Float8E5M2, at::ScalarType::Float8_e5m2},
    {DType::Float8E4M3FN, at::ScalarType::Float8_e4m3fn},
    {DType::QUInt8, at::ScalarType::QUInt8},
    {DType::QUInt4x2, at::ScalarType::QUInt4x2},
    {DType::QInt8, at::ScalarType::QInt8},
    {DType::QInt32, at::ScalarType::QInt32},
    {DType::UInt16, at::ScalarType::UInt16},
    {DType::UInt32, at::ScalarType::UInt32},
    {DType::UInt64, at::ScalarType::UInt64},
}};

constexpr std::pair<std::string_view, at::Layout> kLayouts[] = {
    {"strided", at::kStrided},      {"sparse_coo", at::kSparse},    {"sparse_csr", at::kSparseCsr},
    {"sparse_csc", at::kSparseCsc}, {"sparse_bsr", at::kSparseBsr}, {"sparse_bsc", at::kSparseBsc},
    {"_mkldnn", at::kMkldnn}};
constexpr std::pair<std::string_view, at::MemoryFormat> kMemoryFormats[]
    = {{"contiguous_format", at::MemoryFormat::Contiguous},
       {"channels_last", at::MemoryFormat::ChannelsLast},
       {"channels_last_3d", at::MemoryFormat::ChannelsLast3d},
       {"preserve_format", at::MemoryFormat::Preserve}};

template<class Code, std::size_t count>
std::optional<Code> codeNamed(const std::pair<std::string_view, Code> (&names)[count],
                              std::string_view name)
{
    for (const auto& [word, code] : names)
        if (word == name)
            return code;
    return std::nullopt;
}

template<class Code, std::size_t count>
std::string nameOfCode(const std::pair<std::string_view, Code> (&names)[count], Code wanted)
{
    for (const auto& [word, code] : names)
        if (code == wanted)
            return std::string(word);
    return {};
}

} // namespace

at::ScalarType toScalarType(DType dtype)
{
    for (const auto& [ours, theirs] : kPairs)
        if (ours == dtype)
            return theirs;
    return at::ScalarType::Undefined;
}

DType fromScalarType(at::ScalarType type)
{
    for (const auto& [ours, theirs] : kPairs)
        if (theirs == type)
            return ours;
    return DType::Unknown;
}

at::Device toTorchDevice(const Device& device)
{
    return at::Device(device.text());
}

std::optional<at::Layout> toLayout(std::string_view name)
{
    return codeNamed(kLayouts, name);
}

std::optional<at::MemoryFormat> toMemoryFormat(std::string_view name)
{
    return codeNamed(kMemoryFormats, name);
}

std::string layoutName(at::Layout layout)
{
    return nameOfCode(kLayouts, layout);
}

std::string memoryFormatName(at::MemoryFormat format)
{
    return nameOfCode(kMemoryFormats, format);
}

} // namespace qs
