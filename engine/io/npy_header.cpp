// SPDX-License-Identifier: Apache-2.0
#include "engine/io/npy_header.h"

#include "engine/base/text.h"

#include <array>
#include <charconv>
#include <utility>

namespace qs {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

constexpr std::array<std::pair<std::string_view, DType>, 13> kTypes = {{
    {"b1", DType::Bool},
    {"u1", DType::UInt8},
    {"i1", DType::Int8},
    {"i2", DType::Int16},
    {"i4", DType::Int32},
    {"i8", DType::Int64},
    {"f2", DType::Float16},
    {"f4", DType::Float32},
    {"f8", DType::Float64},
    {"c8", DType::Complex64},
    {"u2", DType::UInt16},
    {"u4", DType::UInt32},
    {"u8", DType::UInt64},
}};

// Returns the text after 'key': in the dictionary, up to its end.
std::string_view valueAfter(std::string_view dictionary, std::string_view key)
{
    const auto at = dictionary.find("'" + std::string(key) + "'");
    if (at == std::string_view::npos)
        return {};
    const auto colon = dictionary.find(':', at);
    return colon == std::string_view::npos ? std::string_view()
                                           : trimmed(dictionary.substr(colon + 1));
}

Result<DType> parseType(std::string_view text)
{
    if (text.empty() || text[0] != '\'')
        return fail(ErrorCode::BadInput, "has a structured type; arrays of numbers are needed");
    const auto end = text.find('\'', 1);
    const std::string_view word
        = end == std::string_view::npos ? std::string_view() : text.substr(1, end - 1);
    if (word == "|O")
        return fail(ErrorCode::BadInput, "is an object array (a pickle), which is never read");
    if (word.size() >= 3 && word[0] == '>')
        return fail(ErrorCode::BadInput,
                    "is big-endian (" + std::string(word)
                        + "); save it with the native byte order");
    if (word.size() >= 3)
        for (const auto& [name, dtype] : kTypes)
            if (word.substr(1) == name)
                return dtype;
    return fail(ErrorCode::BadInput,
                "has type '" + std::string(word) + "', which is not a supported number type");
}

Result<std::vector<std::int64_t>> parseShape(std::string_view text)
{
    std::vector<std::int64_t> shape;
    const auto end = text.find(')');
    if (text.empty() || text[0] != '(' || end == std::string_view::npos)
        return fail(ErrorCode::BadInput, "has a malformed shape");
    std::string_view rest = text.substr(1, end - 1);
    while (!trimmed(rest).empty()) {
        rest = trimmed(rest);
        std::int64_t size = 0;
        const auto [next, error] = std::from_chars(rest.data(), rest.data() + rest.size(), size);
        if (error != std::errc() || size < 0)
            return fail(ErrorCode::BadInput, "has a malformed shape");
        shape.push_back(size);
        rest = trimmed(rest.substr(std::size_t(next - rest.data())));
        if (!rest.empty() && rest[0] == ',')
            rest.remove_prefix(1);
        else if (!rest.empty())
            return fail(ErrorCode::BadInput, "has a malformed shape");
    }
    return shape;
}

} // namespace

std::size_t npyDataOffset(std::string_view start)
{
    if (start.size() < 12 || start.substr(0, kMagic.size()) != kMagic)
        return 0;
    const auto byte = [&](std::size_t i) { return std::size_t(std::uint8_t(start[i])); };
    if (byte(6) == 1)
        return 10 + byte(8) + (byte(9) << 8);
    return 12 + byte(8) + (byte(9) << 8) + (byte(10) << 16) + (byte(11) << 24);
}

Result<NpyHeader> parseNpyHeader(std::string_view dictionary)
{
    NpyHeader header;
    QS_TRY(header.dtype, parseType(valueAfter(dictionary, "descr")));
    QS_TRY(header.shape, parseShape(valueAfter(dictionary, "shape")));
    const std::string_view order = valueAfter(dictionary, "fortran_order");
    header.fortranOrder = order.rfind("True", 0) == 0;
    return header;
}

std::string npyHeaderText(DType dtype, const std::vector<std::int64_t>& shape)
{
    std::string_view word = "f4";
    for (const auto& [name, known] : kTypes)
        if (known == dtype)
            word = name;
    const char order = dtypeSize(dtype) == 1 ? '|' : '<';
    std::string text = "{'descr': '" + std::string(1, order) + std::string(word)
        + "', 'fortran_order': False, 'shape': (";
    for (const auto size : shape)
        text += std::to_string(size) + ",";
    text += "), }";
    // The data start at a multiple of 64 bytes.
    const std::size_t used = 10 + text.size() + 1;
    text.append((64 - used % 64) % 64, ' ');
    text += '\n';
    std::string out(kMagic);
    out += char(1);
    out += char(0);
    out += char(text.size() & 0xff);
    out += char(text.size() >> 8);
    return out + text;
}

} // namespace qs
