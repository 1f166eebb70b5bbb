// SPDX-License-Identifier: Apache-2.0
#include "engine/io/npz_stream.h"

#include "engine/base/process/system.h"
#include "engine/io/npy_header.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <unistd.h>
#include <zip.h>

namespace qs {

namespace {

/// Space before the rows for the header, whose length is known only at the end.
constexpr std::size_t kHeaderRoom = 512;

struct Close
{
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, Close>;

Error ioError(const std::string& path, const std::string& what)
{
    return makeError(ErrorCode::Io, what).inFile(path);
}

/// Creates an unnamed file in that folder; the system deletes it when the program ends.
FilePtr namelessFile(const std::filesystem::path& folder)
{
    std::string name = (folder / ".quantscope-rows-XXXXXX").string();
    const int descriptor = ::mkstemp(name.data());
    if (descriptor < 0)
        return nullptr;
    ::unlink(name.c_str());
    return FilePtr(::fdopen(descriptor, "w+b"));
}

/// Returns the header padded with spaces to `kHeaderRoom` bytes; empty if it is longer.
std::string paddedHeader(DType dtype, const std::vector<std::int64_t>& shape)
{
    std::string header = npyHeaderText(dtype, shape);
    if (header.size() > kHeaderRoom)
        return {};
    header.insert(header.size() - 1, kHeaderRoom - header.size(), ' ');
    const std::size_t dictionary = kHeaderRoom - 10;
    header[8] = char(dictionary & 0xff);
    header[9] = char(dictionary >> 8);
    return header;
}

std::string shapeText(const std::vector<std::int64_t>& shape)
{
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i ? ", " : "") + std::to_string(shape[i]);
    return text + "]";
}

} // namespace

struct NpzStream::Rows
{
    std::string name;
    DType dtype = DType::Unknown;
    std::vector<std::int64_t> shape; ///< shape of all rows so far
    FilePtr file;
};

NpzStream::NpzStream(std::string path, AtomicFile file)
    : m_path(std::move(path))
    , m_file(std::move(file))
{
}

NpzStream::NpzStream(NpzStream&&) noexcept = default;
NpzStream::~NpzStream() = default;

Result<NpzStream> NpzStream::create(const std::string& path)
{
    QS_TRY(AtomicFile file, AtomicFile::create(path));
    return NpzStream(path, std::move(file));
}

Result<NpzStream::Rows*> NpzStream::rowsOf(const NpyArray& first)
{
    for (const auto& rows : m_arrays)
        if (rows->name == first.name)
            return rows.get();
    auto rows = std::make_unique<Rows>();
    rows->name = first.name;
    rows->dtype = first.dtype;
    rows->shape = first.shape;
    rows->shape[0] = 0;
    rows->file = namelessFile(std::filesystem::path(m_file.temporaryPath()).parent_path());
    if (!rows->file || std::fseek(rows->file.get(), long(kHeaderRoom), SEEK_SET) != 0)
        return fail(ioError(m_path, systemMessage(errno)));
    m_arrays.push_back(std::move(rows));
    return m_arrays.back().get();
}

Result<void> NpzStream::append(const NpyArray& rows)
{
    const auto bad = [&](const std::string& what) {
        return fail(
            makeError(ErrorCode::BadInput, "array '" + rows.name + "' " + what).inFile(m_path));
    };
    if (rows.shape.empty())
        return bad("is a single number: it has no samples");
    QS_TRY(Rows* const all, rowsOf(rows));
    if (rows.dtype != all->dtype
        || !std::equal(rows.shape.begin() + 1, rows.shape.end(), all->shape.begin() + 1,
                       all->shape.end()))
        return bad("changes from sample to sample: " + shapeText(rows.shape) + " after "
                   + shapeText(all->shape));
    if (std::fwrite(rows.bytes.data(), 1, rows.bytes.size(), all->file.get()) != rows.bytes.size())
        return fail(ioError(m_path, systemMessage(errno)));
    all->shape[0] += rows.shape[0];
    return {};
}

Result<void> NpzStream::commit()
{
    if (m_arrays.empty())
        return fail(ioError(m_path, "there is nothing to write"));
    int code = 0;
    zip_t* zip = zip_open(m_file.temporaryPath().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (!zip)
        return fail(ioError(m_path, "the archive cannot be made"));
    std::unique_ptr<zip_t, void (*)(zip_t*)> guard(zip, zip_discard);
    for (const auto& rows : m_arrays) {
        const std::string header = paddedHeader(rows->dtype, rows->shape);
        std::FILE* file = rows->file.get();
        if (header.empty() || std::fseek(file, 0, SEEK_SET) != 0
            || std::fwrite(header.data(), 1, header.size(), file) != header.size()
            || std::fflush(file) != 0 || std::fseek(file, 0, SEEK_SET) != 0) // libzip's start
            return fail(ioError(m_path, "array '" + rows->name + "' cannot be written"));
        // libzip closes the file in any case.
        zip_source_t* source = zip_source_filep(zip, file, 0, -1);
        if (!source)
            return fail(ioError(m_path, zip_strerror(zip)));
        static_cast<void>(rows->file.release());
        const zip_int64_t index
            = zip_file_add(zip, (rows->name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
        if (index < 0) {
            zip_source_free(source);
            return fail(ioError(m_path, zip_strerror(zip)));
        }
        zip_file_set_external_attributes(zip, zip_uint64_t(index), 0, ZIP_OPSYS_UNIX,
                                         0100644u << 16);
        zip_file_set_dostime(zip, zip_uint64_t(index), 0, 0x21, 0);
        zip_set_file_compression(zip, zip_uint64_t(index), ZIP_CM_STORE, 0);
    }
    if (zip_close(zip) != 0)
        return fail(ioError(m_path, zip_strerror(zip)));
    static_cast<void>(guard.release());
    return m_file.commit();
}

} // namespace qs
