// SPDX-License-Identifier: Apache-2.0
#include "tests/support/npz_file.h"

#include <ATen/ATen.h>

#include <cstring>
#include <stdexcept>
#include <zip.h>

namespace qs::test {

namespace {

at::ScalarType typeOf(const std::string& descr)
{
    static const std::map<std::string, at::ScalarType> kTypes {
        {"<f4", at::kFloat}, {"<f8", at::kDouble}, {"<i8", at::kLong}, {"<i4", at::kInt},
        {"|b1", at::kBool},  {"|u1", at::kByte},   {"|i1", at::kChar}, {"<f2", at::kHalf}};
    return kTypes.at(descr);
}

std::string between(const std::string& text, const std::string& from, const std::string& to)
{
    const auto start = text.find(from) + from.size();
    return text.substr(start, text.find(to, start) - start);
}

at::Tensor parseNpy(const std::string& bytes)
{
    if (bytes.size() < 10 || bytes.compare(0, 6, "\x93NUMPY", 6) != 0 || bytes[6] != 1)
        throw std::runtime_error("not a version 1 .npy");
    const auto headerSize
        = std::size_t(std::uint8_t(bytes[8])) | std::size_t(std::uint8_t(bytes[9])) << 8;
    const std::string header = bytes.substr(10, headerSize);
    if (header.find("'fortran_order': True") != std::string::npos)
        throw std::runtime_error("column-major .npy");
    std::vector<std::int64_t> shape;
    std::string sizes = between(header, "'shape': (", ")");
    for (std::size_t at = 0; at < sizes.size();) {
        const auto comma = std::min(sizes.find(',', at), sizes.size());
        const std::string one = sizes.substr(at, comma - at);
        if (one.find_first_of("0123456789") != std::string::npos)
            shape.push_back(std::stoll(one));
        at = comma + 1;
    }
    at::Tensor tensor = at::empty(shape, typeOf(between(header, "'descr': '", "'")));
    const std::size_t start = 10 + headerSize;
    if (bytes.size() - start != tensor.nbytes())
        throw std::runtime_error("wrong .npy size");
    std::memcpy(tensor.mutable_data_ptr(), bytes.data() + start, tensor.nbytes());
    return tensor;
}

} // namespace

std::map<std::string, at::Tensor> readNpz(const std::string& path)
{
    int problem = 0;
    zip_t* zip = zip_open(path.c_str(), ZIP_RDONLY, &problem);
    if (!zip)
        throw std::runtime_error("cannot open " + path);
    std::map<std::string, at::Tensor> arrays;
    for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); ++i) {
        zip_stat_t stat;
        zip_stat_index(zip, zip_uint64_t(i), 0, &stat);
        std::string bytes(stat.size, '\0');
        zip_file_t* file = zip_fopen_index(zip, zip_uint64_t(i), 0);
        zip_fread(file, bytes.data(), bytes.size());
        zip_fclose(file);
        const std::string name = stat.name;
        arrays[name.substr(0, name.size() - 4)] = parseNpy(bytes);
    }
    zip_discard(zip);
    return arrays;
}

} // namespace qs::test
