// SPDX-License-Identifier: Apache-2.0
#include "engine/import/archive/pt2_archive.h"

#include "engine/base/memory/free_later.h"

#include <algorithm>
#include <filesystem>
#include <zip.h>

namespace qs {

namespace {

/// Deflate's maximum ratio is about 1 : 1032; a larger claimed ratio is false.
constexpr std::uint64_t kMaxRatio = 1040;
/// torch does not compress; models recompressed by other programs have lower ratios.
constexpr std::uint64_t kMostUnpacked = std::uint64_t(256) << 20, kUsualRatio = 50;

Error damaged(const std::string& path, const std::string& what)
{
    return makeError(ErrorCode::BadInput, what)
        .inFile(path)
        .withHint("the file is damaged or incomplete; copy or export it again");
}

/// Fails on archives that expand excessively: records that share their bytes, or unpack to many
/// times their size.
Result<void> checkSizes(zip_t* archive, std::uint64_t fileSize, const std::string& path)
{
    std::uint64_t held = 0, packed = 0, unpacked = 0;
    const auto count = zip_uint64_t(std::max<zip_int64_t>(zip_get_num_entries(archive, 0), 0));
    for (zip_uint64_t i = 0; i < count; ++i) {
        zip_stat_t stat;
        zip_stat_init(&stat);
        if (zip_stat_index(archive, i, 0, &stat) != 0)
            continue;
        if (stat.comp_size > fileSize - std::min(held, fileSize))
            return fail(damaged(path, "the archive's records claim more bytes than it has"));
        held += stat.comp_size;
        if (stat.comp_method == ZIP_CM_STORE)
            continue;
        packed += stat.comp_size;
        unpacked += std::min<std::uint64_t>(stat.size, std::uint64_t(1) << 40);
    }
    if (unpacked > kMostUnpacked && unpacked > packed * kUsualRatio)
        return fail(makeError(ErrorCode::BadInput,
                              "unpacks to more than " + std::to_string(kUsualRatio)
                                  + " times its size, as no model does")
                        .inFile(path)
                        .withHint("save the model again"));
    return {};
}

} // namespace

struct Pt2Archive::Zip
{
    zip_t* handle = nullptr;
    ~Zip()
    {
        if (handle) // freeing 20,000 records takes 50 ms
            freeLater([archive = handle] { zip_discard(archive); });
    }
};

Pt2Archive::Pt2Archive()
    : m_zip(std::make_unique<Zip>())
{
}

Pt2Archive::~Pt2Archive() = default;

Result<std::shared_ptr<Pt2Archive>> Pt2Archive::open(const std::string& path)
{
    std::shared_ptr<Pt2Archive> archive(new Pt2Archive);
    archive->m_path = path;
    std::error_code code;
    archive->m_fileSize = std::filesystem::file_size(path, code);
    int problem = 0;
    archive->m_zip->handle = zip_open(path.c_str(), ZIP_RDONLY, &problem);
    if (!archive->m_zip->handle) {
        zip_error_t error;
        zip_error_init_with_code(&error, problem);
        const std::string why = zip_error_strerror(&error);
        zip_error_fini(&error);
        return fail(damaged(path, "the archive cannot be read (" + why + ")"));
    }
    QS_CHECK(checkSizes(archive->m_zip->handle, archive->m_fileSize, path));
    const zip_int64_t count = zip_get_num_entries(archive->m_zip->handle, 0);
    std::vector<std::string> full;
    for (zip_int64_t i = 0; i < count; ++i)
        if (const char* name
            = zip_get_name(archive->m_zip->handle, zip_uint64_t(i), ZIP_FL_ENC_RAW))
            full.emplace_back(name);
    if (full.empty())
        return fail(damaged(path, "the archive holds nothing"));
    const std::string root = full.front().substr(0, full.front().find('/') + 1);
    const bool shared = std::all_of(full.begin(), full.end(),
                                    [&](const auto& name) { return name.starts_with(root); });
    archive->m_root = shared ? root : "";
    for (const auto& name : full)
        archive->m_names.push_back(name.substr(archive->m_root.size()));
    return archive;
}

bool Pt2Archive::has(const std::string& name) const
{
    std::lock_guard lock(m_mutex);
    return zip_name_locate(m_zip->handle, (m_root + name).c_str(), ZIP_FL_ENC_RAW) >= 0;
}

std::uint64_t Pt2Archive::size(const std::string& name) const
{
    std::lock_guard lock(m_mutex);
    return findRecord(name).value_or(0);
}

Result<std::uint64_t> Pt2Archive::findRecord(const std::string& name) const
{
    zip_stat_t stat;
    zip_stat_init(&stat);
    if (zip_stat(m_zip->handle, (m_root + name).c_str(), ZIP_FL_ENC_RAW, &stat) != 0)
        return fail(damaged(m_path, "lacks the record '" + name + "'"));
    if (stat.comp_size > m_fileSize || stat.size > stat.comp_size * kMaxRatio + 1024)
        return fail(damaged(m_path, "the record '" + name + "' claims an impossible size"));
    return stat.size;
}

Result<void> Pt2Archive::readInto(const std::string& name, void* target, std::uint64_t bytes) const
{
    std::lock_guard lock(m_mutex);
    QS_TRY(const std::uint64_t size, findRecord(name));
    if (size != bytes)
        return fail(damaged(m_path, "the record '" + name + "' changed its size"));
    zip_file_t* file = zip_fopen(m_zip->handle, (m_root + name).c_str(), ZIP_FL_ENC_RAW);
    if (!file)
        return fail(damaged(m_path,
                            "the record '" + name + "' cannot be read ("
                                + zip_strerror(m_zip->handle) + ")"));
    auto* out = static_cast<char*>(target);
    std::uint64_t done = 0;
    zip_int64_t got = 0;
    while (done < bytes && (got = zip_fread(file, out + done, bytes - done)) > 0)
        done += std::uint64_t(got);
    // libzip checks the CRC at the end of the record: read one more byte.
    char extra = 0;
    const bool complete = done == bytes && zip_fread(file, &extra, 1) == 0;
    const std::string why = complete ? "" : zip_file_strerror(file);
    zip_fclose(file);
    if (!complete)
        return fail(damaged(m_path, "the record '" + name + "' is damaged (" + why + ")"));
    return {};
}

Result<void> Pt2Archive::verify(const JobContext& job) const
{
    std::string buffer(std::size_t(1) << 20, '\0');
    for (const auto& name : m_names) {
        std::lock_guard lock(m_mutex);
        QS_CHECK(findRecord(name));
        zip_file_t* file = zip_fopen(m_zip->handle, (m_root + name).c_str(), ZIP_FL_ENC_RAW);
        zip_int64_t got = file ? 1 : -1;
        while (got > 0 && !job.cancelled())
            got = zip_fread(file, buffer.data(), buffer.size());
        const std::string why = got >= 0 ? ""
            : file                       ? zip_file_strerror(file)
                                         : zip_strerror(m_zip->handle);
        if (file)
            zip_fclose(file);
        QS_CHECK(job.check());
        if (got < 0)
            return fail(damaged(m_path, "the record '" + name + "' is damaged (" + why + ")"));
    }
    return {};
}

Result<std::string> Pt2Archive::read(const std::string& name) const
{
    std::uint64_t bytes = 0;
    {
        std::lock_guard lock(m_mutex);
        QS_TRY(bytes, findRecord(name));
    }
    std::string out(bytes, '\0');
    QS_CHECK(readInto(name, out.data(), bytes));
    return out;
}

} // namespace qs
