// SPDX-License-Identifier: Apache-2.0
#include "engine/io/npz.h"

#include "engine/base/files/atomic_file.h"
#include "engine/base/files/read_file.h"
#include "engine/base/memory/free_later.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <memory>
#include <numeric>
#include <stop_token>
#include <zip.h>

namespace qs {

namespace {

using ZipPtr = std::unique_ptr<zip_t, void (*)(zip_t*)>;

/// Maximum header size; numpy writes none that large.
constexpr std::size_t kMaxHeader = std::size_t(1) << 20;

Error arrayError(const std::string& name, const std::string& what)
{
    return makeError(ErrorCode::BadInput, "array '" + name + "' " + what);
}

// Converts column-major bytes to row-major.
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

Result<void> readHeader(const ZipReader& archive, NpzPlace& place)
{
    const std::uint64_t held = archive.entries()[place.entry].size;
    std::string start(12, '\0');
    if (held < start.size() || !archive.read(place.entry, 0, start.size(), start.data()))
        return fail(arrayError(place.name, "is truncated"));
    const std::size_t offset = npyDataOffset(start);
    if (offset < start.size() || offset > kMaxHeader)
        return fail(arrayError(place.name, "is not in numpy's format"));
    std::string rest(offset - start.size(), '\0');
    if (held < offset || !archive.read(place.entry, start.size(), rest.size(), rest.data()))
        return fail(arrayError(place.name, "is truncated"));
    auto header = parseNpyHeader(start.substr(10) + rest);
    if (!header)
        return fail(arrayError(place.name, header.error().message));
    place.header = std::move(*header);
    place.start = offset;
    return {};
}

// Returns the number of elements of a shape, or -1 if no file could hold them.
std::int64_t elementsOf(const std::vector<std::int64_t>& shape)
{
    std::int64_t count = 1;
    for (const auto size : shape)
        if (__builtin_mul_overflow(count, size, &count) || count > (std::int64_t(1) << 56))
            return -1;
    return count;
}

Result<NpyArray> readArray(const ZipReader& archive, const NpzPlace& place)
{
    NpyArray array {place.name, place.header.dtype, place.header.shape, {}};
    array.bytes.resize(std::size_t(array.elements() * dtypeSize(array.dtype)));
    const auto read
        = archive.read(place.entry, place.start, array.bytes.size(), array.bytes.data());
    if (!read)
        return fail(arrayError(place.name, read.error().message));
    if (place.header.fortranOrder && array.shape.size() > 1)
        toRowMajor(array);
    return array;
}

} // namespace

std::int64_t NpyArray::elements() const
{
    return std::accumulate(shape.begin(), shape.end(), std::int64_t(1), std::multiplies<>());
}

Result<NpzDirectory> openNpz(const std::string& path)
{
    auto archive = ZipReader::open(path);
    if (!archive)
        return fail(archive.error().code == ErrorCode::NotFound
                        ? std::move(archive).error()
                        : makeError(ErrorCode::BadInput, "not a readable .npz file").inFile(path));
    NpzDirectory out {*archive, {}};
    const auto& entries = out.archive->entries();
    for (std::size_t i = 0; i < entries.size(); ++i) {
        NpzPlace place {entries[i].name, {}, i, 0};
        if (!place.name.ends_with(".npy"))
            return fail(
                makeError(ErrorCode::BadInput,
                          "holds '" + place.name + "', which is not an array: not an .npz file")
                    .inFile(path));
        place.name.resize(place.name.size() - 4);
        if (auto read = readHeader(*out.archive, place); !read)
            return fail(std::move(read).error().inFile(path));
        const std::int64_t count = elementsOf(place.header.shape);
        if (count < 0
            || std::uint64_t(count) * std::uint64_t(dtypeSize(place.header.dtype))
                > entries[i].size - place.start)
            return fail(
                arrayError(place.name, "is truncated: its shape needs more bytes than there are")
                    .inFile(path));
        out.arrays.push_back(std::move(place));
    }
    if (out.arrays.empty())
        return fail(makeError(ErrorCode::BadInput, "holds no array").inFile(path));
    return out;
}

Result<NpyArray> parseNpy(std::string_view content)
{
    const auto bad = [](const std::string& what) { return fail(ErrorCode::BadInput, what); };
    const std::size_t offset = content.size() < 10 ? 0 : npyDataOffset(content);
    if (offset == 0)
        return bad("is not an .npy file");
    if (content.size() < offset)
        return bad("is truncated");
    auto header = parseNpyHeader(content.substr(10, offset - 10));
    if (!header)
        return bad(header.error().message);
    const std::int64_t count = elementsOf(header->shape);
    const auto size = std::uint64_t(dtypeSize(header->dtype));
    if (count < 0 || std::uint64_t(count) * size > content.size() - offset)
        return bad("is truncated: its shape needs more bytes than there are");
    NpyArray array {{}, header->dtype, header->shape, {}};
    array.bytes.resize(std::size_t(count) * size);
    if (!array.bytes.empty())
        std::memcpy(array.bytes.data(), content.data() + offset, array.bytes.size());
    if (header->fortranOrder && array.shape.size() > 1)
        toRowMajor(array);
    return array;
}

Result<NpyArray> readNpy(const std::string& path)
{
    QS_TRY(const std::string content, readWholeFile(path, std::uint64_t(1) << 40));
    auto array = parseNpy(content);
    if (!array)
        return fail(std::move(array).error().inFile(path));
    return array;
}

Result<NpzContent> readNpz(const std::string& path)
{
    QS_TRY(const NpzDirectory directory, openNpz(path));
    NpzContent out;
    for (const NpzPlace& place : directory.arrays) {
        auto array = readArray(*directory.archive, place);
        if (!array)
            return fail(std::move(array).error().inFile(path));
        out.arrays.push_back(std::move(*array));
    }
    return out;
}

namespace {

struct SourceRelease
{
    void operator()(zip_source_t* source) const { zip_source_free(source); }
};
using SourcePtr = std::unique_ptr<zip_source_t, SourceRelease>;

/// An archive created in memory. A thread closes it, because libzip needs a second for 40,000
/// arrays and 250 ms more to free them, without checking for cancellation.
struct NewArchive
{
    std::stop_source stop;
    SourcePtr source;
    std::vector<std::string> contents; ///< libzip reads them on close
    ZipPtr zip {nullptr, zip_discard};
};

/// Returns the bytes of a closed archive in memory.
Result<std::string> bytesOf(zip_source_t* source)
{
    zip_stat_t about = {};
    std::string bytes;
    if (zip_source_stat(source, &about) != 0 || zip_source_open(source) != 0)
        return fail(ErrorCode::Io, "the archive cannot be made");
    bytes.resize(about.size);
    const zip_int64_t got = zip_source_read(source, bytes.data(), bytes.size());
    zip_source_close(source);
    if (got != zip_int64_t(bytes.size()))
        return fail(ErrorCode::Io, "the archive cannot be made");
    return bytes;
}

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
    // A fixed time stamp, so that equal content gives equal files.
    zip_file_set_dostime(zip, zip_uint64_t(index), 0, 0x21, 0);
    zip_set_file_compression(zip, zip_uint64_t(index), ZIP_CM_DEFLATE, 1);
    return {};
}

} // namespace

Result<void> writeNpz(const std::vector<NpyArray>& arrays, const std::string& path,
                      const JobContext& job)
{
    QS_TRY(const std::string bytes, npzBytes(arrays, job));
    return writeFileAtomically(path, bytes);
}

namespace {

/// Writes the archive. Returns libzip's error, or nothing. Any thread.
std::string problemOfClosing(NewArchive& archive)
{
    zip_t* zip = archive.zip.get();
    const auto isCancelled = [](zip_t*, void* stop) -> int {
        return static_cast<const std::stop_source*>(stop)->stop_requested() ? 1 : 0;
    };
    zip_register_cancel_callback_with_state(zip, isCancelled, nullptr, &archive.stop);
    if (zip_close(zip) != 0)
        return zip_strerror(zip);
    static_cast<void>(archive.zip.release()); // closed, not discarded
    return {};
}

/// The same on another thread; a cancel does not wait for it.
Result<void> closeApart(const std::shared_ptr<NewArchive>& archive, const JobContext& job)
{
    auto closing = std::make_shared<std::future<std::string>>(
        std::async(std::launch::async, [archive] { return problemOfClosing(*archive); }));
    while (closing->wait_for(std::chrono::milliseconds(10)) != std::future_status::ready)
        if (job.cancelled()) {
            archive->stop.request_stop();
            freeLater([left = std::move(closing)]() mutable { left.reset(); });
            return job.check();
        }
    QS_CHECK(job.check());
    const std::string problem = closing->get();
    return problem.empty() ? Result<void>() : fail(makeError(ErrorCode::Io, problem));
}

} // namespace

Result<std::string> npzBytes(const std::vector<NpyArray>& arrays, const JobContext& job)
{
    zip_error_t error;
    zip_error_init(&error);
    const std::shared_ptr<NewArchive> archive = makeFreedLater<NewArchive>();
    archive->source.reset(zip_source_buffer_create(nullptr, 0, 0, &error));
    zip_source_t* source = archive->source.get();
    if (!source)
        return fail(ErrorCode::Io, "out of memory");
    zip_source_keep(source); // the archive releases one reference on close
    archive->zip.reset(zip_open_from_source(source, ZIP_TRUNCATE, &error));
    zip_t* zip = archive->zip.get();
    if (!zip) {
        zip_source_free(source);
        return fail(ErrorCode::Io, "the archive cannot be made");
    }
    archive->contents.resize(arrays.size());
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        QS_CHECK(job.check());
        QS_CHECK(addArray(zip, arrays[i], archive->contents[i]));
    }
    QS_CHECK(closeApart(archive, job));
    return bytesOf(source);
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
