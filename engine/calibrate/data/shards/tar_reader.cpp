// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/shards/tar_reader.h"

#include "engine/base/files/read_file.h"
#include "engine/base/text.h"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <locale.h> // NOLINT(modernize-deprecated-headers): newlocale is POSIX
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace qs {

namespace {

constexpr std::size_t kReadBytes = std::size_t(16) << 10; // for a header and small members
constexpr std::uint64_t kTarBlock = 512;

/// Names are UTF-8 while it lasts, whatever the process's locale; for this thread only.
class Utf8Names
{
public:
    Utf8Names()
        : m_utf8(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr))
        , m_before(m_utf8 ? uselocale(m_utf8) : nullptr)
    {
    }
    ~Utf8Names()
    {
        if (!m_utf8)
            return;
        uselocale(m_before);
        freelocale(m_utf8);
    }
    Utf8Names(const Utf8Names&) = delete;
    Utf8Names& operator=(const Utf8Names&) = delete;

private:
    locale_t m_utf8;
    locale_t m_before;
};

bool isCompressed(std::string_view start)
{
    using namespace std::string_view_literals;
    constexpr std::array kStarts {"\x1f\x8b"sv, "\x28\xb5\x2f\xfd"sv, "BZh"sv,
                                  "\xfd"
                                  "7zXZ"sv};
    return std::any_of(kStarts.begin(), kStarts.end(),
                       [&](std::string_view one) { return start.starts_with(one); });
}

} // namespace

Error memberError(const std::string& file, const std::string& member, Error error)
{
    error.message = "member " + inQuotes(member) + " " + error.message;
    error.file = file;
    return error;
}

Result<PlacedFile> PlacedFile::open(const std::string& path)
{
    QS_CHECK(checkReadable(path));
    PlacedFile file;
    file.m_path = path;
    file.m_descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about = {};
    if (file.m_descriptor < 0 || fstat(file.m_descriptor, &about) != 0)
        return fail(makeError(ErrorCode::Io, "cannot be read").inFile(path));
    file.m_size = std::uint64_t(about.st_size);
    return file;
}

PlacedFile::PlacedFile(PlacedFile&& other) noexcept
    : m_path(std::move(other.m_path))
    , m_descriptor(std::exchange(other.m_descriptor, -1))
    , m_size(other.m_size)
{
}

PlacedFile::~PlacedFile()
{
    if (m_descriptor >= 0)
        close(m_descriptor);
}

Result<std::string> PlacedFile::read(std::uint64_t offset, std::uint64_t size) const
{
    std::string bytes;
    if (offset <= m_size && size <= m_size - offset)
        bytes.resize(std::size_t(size));
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t got
            = pread(m_descriptor, bytes.data() + done, bytes.size() - done, off_t(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += std::size_t(got);
    }
    if (done < size)
        return fail(makeError(ErrorCode::Io,
                              "ends early: it is truncated, or was changed while it was read")
                        .inFile(m_path));
    return bytes;
}

void TarReader::Close::operator()(archive* opened) const
{
    archive_read_free(opened);
}

TarReader::TarReader(std::string path, PlacedFile file)
    : m_path(std::move(path))
    , m_file(std::move(file))
    , m_archive(archive_read_new())
{
}

Result<TarReader> TarReader::open(const std::string& path)
{
    QS_TRY(PlacedFile file, PlacedFile::open(path));
    TarReader reader(path, std::move(file));
    QS_CHECK(reader.begin());
    return reader;
}

Result<void> TarReader::begin()
{
    const auto bad = [this](const char* what, const char* hint) {
        return fail(makeError(ErrorCode::BadInput, what).inFile(m_path).withHint(hint));
    };
    if (m_file.size() == 0)
        return bad("is empty", "give a .tar file with the samples");
    QS_TRY(const std::string start, m_file.read(0, std::min<std::uint64_t>(m_file.size(), 8)));
    if (isCompressed(start))
        return bad("is a compressed archive, whose samples cannot be read one by one",
                   "unpack it to a .tar (gunzip, unzstd, bunzip2 or unxz)");
    const bool isOpen = m_archive && archive_read_support_format_tar(m_archive.get()) == ARCHIVE_OK
        && archive_read_open_fd(m_archive.get(), m_file.descriptor(), kReadBytes) == ARCHIVE_OK;
    if (!isOpen)
        return bad("is not a tar archive", "give a .tar file with the samples");
    return {};
}

Error TarReader::damaged(const std::string& what) const
{
    return makeError(ErrorCode::BadInput,
                     m_last.empty() ? what : what + " after member " + inQuotes(m_last))
        .inFile(m_path)
        .withHint("copy or write it again");
}

Result<std::optional<TarMember>> TarReader::next()
{
    const Utf8Names names;
    while (true) {
        archive_entry* entry = nullptr;
        const int status = archive_read_next_header(m_archive.get(), &entry);
        const auto at
            = std::uint64_t(std::max<la_int64_t>(archive_filter_bytes(m_archive.get(), 0), 0));
        if (status == ARCHIVE_EOF) {
            m_hasEndMark = at >= (m_end + kTarBlock - 1) / kTarBlock * kTarBlock + kTarBlock;
            return std::optional<TarMember>();
        }
        if ((status != ARCHIVE_OK && status != ARCHIVE_WARN) || !entry) {
            const bool isShort = m_end > m_file.size() || at + kTarBlock > m_file.size();
            return fail(m_last.empty() && !isShort ? damaged("is not a tar archive")
                            : isShort              ? damaged("is truncated")
                                                   : damaged("is damaged"));
        }
        QS_TRY(std::optional<TarMember> member, memberOf(*entry));
        if (member)
            return member;
    }
}

/// Returns nullopt for what holds no data.
Result<std::optional<TarMember>> TarReader::memberOf(archive_entry& entry)
{
    const char* name = archive_entry_pathname(&entry);
    TarMember member;
    member.name = name ? name : "";
    member.offset = std::uint64_t(archive_filter_bytes(m_archive.get(), 0));
    member.size = std::uint64_t(std::max<la_int64_t>(archive_entry_size(&entry), 0));
    const auto bad = [&](const std::string& what, const char* hint) {
        return fail(
            memberError(m_path, member.name, makeError(ErrorCode::BadInput, what).withHint(hint)));
    };
    const bool isLink
        = archive_entry_filetype(&entry) == AE_IFLNK || archive_entry_hardlink(&entry);
    if (isLink)
        return bad("is a link, which holds no data",
                   "write the archive with tar --dereference "
                   "--hard-dereference");
    m_last = member.name;
    m_end = member.offset;
    if (archive_entry_filetype(&entry) != AE_IFREG)
        return std::optional<TarMember>();
    if (archive_entry_sparse_reset(&entry) > 0)
        return bad("is stored sparsely", "write the archive without tar --sparse");
    if (member.offset > m_file.size() || member.size > m_file.size() - member.offset)
        return bad("is truncated: it needs " + std::to_string(member.size) + " bytes, the file has "
                       + std::to_string(m_file.size() - std::min(m_file.size(), member.offset)),
                   "copy or write the archive again");
    m_end = member.offset + member.size;
    return std::optional(std::move(member));
}

Result<std::string> TarReader::content(const TarMember& member) const
{
    return m_file.read(member.offset, member.size);
}

} // namespace qs
