// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/npz.h"

#include "engine/base/atomic_file.h"
#include "engine/calibrate/npy_header.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <zip.h>

namespace qs {

namespace {

using ZipPtr = std::unique_ptr<zip_t, void (*)(zip_t*)>;
using ZipFilePtr = std::unique_ptr<zip_file_t, int (*)(zip_file_t*)>;

/// A header longer than this is not one of numpy's.
constexpr std::size_t kMaxHeader = std::size_t(1) << 20;

Error arrayError(const std::string& name, const std::string& what)
{
    return makeError(ErrorCode::BadInput, "array '" + name + "' " + what);
}

bool readExactly(zip_file_t* file, void* into, std::size_t wanted)
{
    auto* bytes = static_cast<char*>(into);
    while (wanted > 0) {
        const zip_int64_t got = zip_fread(file, bytes, wanted);
        if (got <= 0)
            return false;
        bytes += got;
        wanted -= std::size_t(got);
    }
    return true;
}

// Reads on to the end, where libzip compares the checksum.
bool restIsSound(zip_file_t* file)
{
    std::vector<char> scratch(std::size_t(1) << 16);
    zip_int64_t got = 0;
    while ((got = zip_fread(file, scratch.data(), scratch.size())) > 0) { }
    return got == 0;
}

// Column-major bytes to row-major ones.
void toRowMajor(NpyArray& array)
{
    const auto size = std::size_t(dtypeSize(array.dtype));
    const auto rank = array.shape.size();
    std::vector<std::byte> out(array.bytes.size());
    std::vector<std::int64_t> index(rank, 0);
    std::vector<std::int64_t> stride(rank, 1);
    for (std::size_t d = 1; d < rank; ++d)
        stride[d] = stride[d - 1] * array.shape[d - 1];
    const std::int64_t count = array.elements();
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t from
            = std::inner_product(index.begin(), index.end(), stride.begin(), std::int64_t(0));
        std::memcpy(out.data() + std::size_t(i) * size,
                    array.bytes.data() + std::size_t(from) * size, size);
        for (std::size_t d = rank; d-- > 0;) {
            if (++index[d] < array.shape[d])
                break;
            index[d] = 0;
        }
    }
    array.bytes = std::move(out);
}

void keepRows(NpyArray& array, std::int64_t rows)
{
    if (array.shape.empty() || array.shape[0] <= rows)
        return;
    const auto perRow = array.bytes.size() / std::size_t(array.shape[0]);
    array.shape[0] = rows;
    array.bytes.resize(perRow * std::size_t(rows));
}

Result<NpyHeader> readHeader(zip_file_t* file, const std::string& name)
{
    std::string start(12, '\0');
    if (!readExactly(file, start.data(), start.size()))
        return fail(arrayError(name, "is truncated"));
    const std::size_t offset = npyDataOffset(start);
    if (offset < start.size() || offset > kMaxHeader)
        return fail(arrayError(name, "is not in numpy's format"));
    std::string rest(offset - start.size(), '\0');
    if (!readExactly(file, rest.data(), rest.size()))
        return fail(arrayError(name, "is truncated"));
    auto header = parseNpyHeader(start.substr(10) + rest);
    if (!header)
        return fail(arrayError(name, header.error().message));
    return header;
}

// Elements of a shape, or -1 when no file could hold them.
std::int64_t elementsOf(const std::vector<std::int64_t>& shape)
{
    std::int64_t count = 1;
    for (const auto size : shape)
        if (__builtin_mul_overflow(count, size, &count) || count > (std::int64_t(1) << 56))
            return -1;
    return count;
}

struct OneArray
{
    NpyArray array;
    std::int64_t rows = 0;
};

Result<OneArray> readArray(zip_t* zip, zip_uint64_t index, const std::string& name,
                           std::int64_t maxRows)
{
    const ZipFilePtr file(zip_fopen_index(zip, index, 0), zip_fclose);
    if (!file)
        return fail(arrayError(name, std::string("cannot be read: ") + zip_strerror(zip)));
    QS_TRY(NpyHeader header, readHeader(file.get(), name));
    zip_stat_t stat;
    zip_stat_init(&stat);
    zip_stat_index(zip, index, 0, &stat);
    const std::int64_t count = elementsOf(header.shape);
    const auto size = std::int64_t(dtypeSize(header.dtype));
    if (count < 0 || std::uint64_t(count * size) > stat.size)
        return fail(arrayError(name, "is truncated: its shape needs more bytes than there are"));
    OneArray out;
    out.array = {name, header.dtype, header.shape, {}};
    out.rows = header.shape.empty() ? 0 : header.shape[0];
    const bool cut = maxRows > 0 && out.rows > maxRows;
    if (cut && !header.fortranOrder)
        out.array.shape[0] = maxRows;
    out.array.bytes.resize(std::size_t(out.array.elements() * size));
    if (!readExactly(file.get(), out.array.bytes.data(), out.array.bytes.size())
        || !restIsSound(file.get()))
        return fail(arrayError(name, "is truncated or corrupt"));
    if (header.fortranOrder && header.shape.size() > 1)
        toRowMajor(out.array);
    if (cut)
        keepRows(out.array, maxRows);
    return out;
}

} // namespace

std::int64_t NpyArray::elements() const
{
    return std::accumulate(shape.begin(), shape.end(), std::int64_t(1), std::multiplies<>());
}

Result<NpzContent> readNpz(const std::string& path, std::int64_t maxRows)
{
    int code = 0;
    const ZipPtr zip(zip_open(path.c_str(), ZIP_RDONLY, &code), zip_discard);
    if (!zip)
        return fail(makeError(code == ZIP_ER_NOENT ? ErrorCode::NotFound : ErrorCode::BadInput,
                              code == ZIP_ER_NOENT ? "no such file" : "not a readable .npz file")
                        .inFile(path));
    NpzContent out;
    const zip_int64_t entries = zip_get_num_entries(zip.get(), 0);
    for (zip_int64_t i = 0; i < entries; ++i) {
        std::string name = zip_get_name(zip.get(), zip_uint64_t(i), 0);
        if (name.size() < 4 || name.substr(name.size() - 4) != ".npy")
            return fail(makeError(ErrorCode::BadInput,
                                  "holds '" + name + "', which is no array: not an .npz file")
                            .inFile(path));
        name.resize(name.size() - 4);
        auto one = readArray(zip.get(), zip_uint64_t(i), name, maxRows);
        if (!one)
            return fail(std::move(one).error().inFile(path));
        out.arrays.push_back(std::move(one->array));
        out.rows.push_back(one->rows);
    }
    if (out.arrays.empty())
        return fail(makeError(ErrorCode::BadInput, "holds no array").inFile(path));
    return out;
}

namespace {

Result<void> addArray(zip_t* zip, const NpyArray& array, std::string& content)
{
    content = npyHeaderText(array.dtype, array.shape);
    content.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
    zip_source_t* source = zip_source_buffer(zip, content.data(), content.size(), 0);
    const zip_int64_t index
        = source ? zip_file_add(zip, (array.name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8) : -1;
    if (index < 0) {
        zip_source_free(source);
        return fail(ErrorCode::Io, std::string("array '") + array.name + "': " + zip_strerror(zip));
    }
    // The same statistics give the same file, whenever it was written.
    zip_file_set_dostime(zip, zip_uint64_t(index), 0, 0x21, 0);
    zip_set_file_compression(zip, zip_uint64_t(index), ZIP_CM_DEFLATE, 1);
    return {};
}

} // namespace

Result<void> writeNpz(const std::vector<NpyArray>& arrays, const std::string& path)
{
    AtomicFile file(path);
    int code = 0;
    ZipPtr zip(zip_open(file.temporaryPath().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code),
               zip_discard);
    if (!zip)
        return fail(makeError(ErrorCode::Io, "cannot be written").inFile(path));
    std::vector<std::string> contents(arrays.size()); // libzip reads them when it closes
    for (std::size_t i = 0; i < arrays.size(); ++i)
        QS_CHECK(addArray(zip.get(), arrays[i], contents[i]));
    if (zip_close(zip.get()) != 0)
        return fail(makeError(ErrorCode::Io, zip_strerror(zip.get())).inFile(path));
    zip.release(); // closed, not discarded
    return file.commit();
}

namespace {

template<class T>
NpyArray fromValues(std::string name, DType dtype, const T* values, std::vector<std::int64_t> shape)
{
    NpyArray out {std::move(name), dtype, std::move(shape), {}};
    out.bytes.resize(std::size_t(out.elements()) * sizeof(T));
    if (!out.bytes.empty())
        std::memcpy(out.bytes.data(), values, out.bytes.size());
    return out;
}

} // namespace

NpyArray npyFrom(std::string name, const std::vector<float>& values)
{
    return fromValues(std::move(name), DType::Float32, values.data(),
                      {std::int64_t(values.size())});
}

NpyArray npyFrom(std::string name, const std::vector<std::int64_t>& values)
{
    return fromValues(std::move(name), DType::Int64, values.data(), {std::int64_t(values.size())});
}

NpyArray npyScalar(std::string name, float value)
{
    return fromValues(std::move(name), DType::Float32, &value, {});
}

NpyArray npyScalar(std::string name, std::int64_t value)
{
    return fromValues(std::move(name), DType::Int64, &value, {});
}

} // namespace qs
