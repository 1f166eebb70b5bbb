// SPDX-License-Identifier: Apache-2.0
#include "engine/io/zip_reader.h"

#include "engine/base/files/read_file.h"
#include "engine/base/process/system.h"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <list>
#include <map>
#include <unistd.h>
#include <utility>
#include <zip.h>

namespace qs {

namespace {

/// Maximum number of entries kept open between reads: the inputs of one call are read alternately.
constexpr std::size_t kMaxOpen = 32;

/// Maximum number of restarts of a deflated entry (by backward seeks) before it is kept inflated.
constexpr int kMostRestarts = 4;

using ZipPtr = std::unique_ptr<zip_t, void (*)(zip_t*)>;
using ZipFilePtr = std::unique_ptr<zip_file_t, int (*)(zip_file_t*)>;

bool readExactly(zip_file_t* file, char* into, std::uint64_t wanted)
{
    while (wanted > 0) {
        const zip_int64_t got = zip_fread(file, into, wanted);
        if (got <= 0)
            return false;
        into += got;
        wanted -= std::uint64_t(got);
    }
    return true;
}

/// An unnamed temporary file in $TMPDIR or /var/tmp (/tmp may be in memory), deleted with the
/// process.
class Scratch
{
public:
    Scratch() = default;
    Scratch(Scratch&& other) noexcept
        : m_handle(std::exchange(other.m_handle, -1))
    {
    }
    Scratch& operator=(Scratch&&) = delete;
    ~Scratch()
    {
        if (m_handle >= 0)
            close(m_handle);
    }

    bool isOpen() const { return m_handle >= 0; }
    void open()
    {
        const std::string given = environmentVariable("TMPDIR");
        std::string name = (given.empty() ? "/var/tmp" : given) + "/quantscope-XXXXXX";
        m_handle = mkostemp(name.data(), O_CLOEXEC);
        if (m_handle >= 0)
            unlink(name.c_str());
    }
    bool append(const char* bytes, std::size_t count) const
    {
        for (std::size_t done = 0; done < count;) {
            const ssize_t step = write(m_handle, bytes + done, count - done);
            if (step <= 0)
                return false;
            done += std::size_t(step);
        }
        return true;
    }
    bool read(std::uint64_t offset, std::uint64_t count, char* into) const
    {
        while (count > 0) {
            const ssize_t got = pread(m_handle, into, count, off_t(offset));
            if (got <= 0)
                return false;
            into += got;
            offset += std::uint64_t(got);
            count -= std::uint64_t(got);
        }
        return true;
    }

private:
    int m_handle = -1;
};

bool skip(zip_file_t* file, std::uint64_t bytes)
{
    std::vector<char> scratch(std::size_t(std::min<std::uint64_t>(bytes, 1 << 16)));
    while (bytes > 0) {
        const std::uint64_t step = std::min<std::uint64_t>(bytes, scratch.size());
        if (!readExactly(file, scratch.data(), step))
            return false;
        bytes -= step;
    }
    return true;
}

} // namespace

struct ZipReader::Streams
{
    struct Stream
    {
        std::size_t entry = 0;
        ZipFilePtr file;
        std::uint64_t position = 0;
        std::uint64_t first = 0; ///< position at which reading began
    };

    struct Inflated
    {
        Scratch target;
        ZipFilePtr file {nullptr, zip_fclose};
        std::uint64_t done = 0;
        bool isSound = false; ///< false if writing failed
    };

    ZipPtr zip {nullptr, zip_discard};
    std::list<Stream> open; ///< most recently used first
    std::map<std::size_t, int> restarts; ///< restarts by deflated entry
    std::map<std::size_t, Inflated> inflated;

    Stream* find(std::size_t entry)
    {
        const auto it = std::find_if(open.begin(), open.end(),
                                     [&](const Stream& one) { return one.entry == entry; });
        if (it == open.end())
            return start(entry);
        open.splice(open.begin(), open, it);
        return &open.front();
    }

    Stream* start(std::size_t entry)
    {
        ZipFilePtr file(zip_fopen_index(zip.get(), entry, 0), zip_fclose);
        if (!file)
            return nullptr;
        open.push_front({entry, std::move(file), 0, 0});
        if (open.size() > kMaxOpen)
            open.pop_back();
        return &open.front();
    }

    // Returns the inflated copy of an entry that is often read out of order, extended up to `end`
    // only, since other readers wait. Null for other entries, or on failure.
    const Scratch* scratch(std::size_t entry, std::uint64_t end, std::uint64_t size)
    {
        if (restarts[entry] <= kMostRestarts)
            return nullptr;
        const auto [it, isNew] = inflated.try_emplace(entry);
        Inflated& kept = it->second;
        if (isNew) {
            kept.target.open();
            kept.file.reset(zip_fopen_index(zip.get(), entry, 0));
            kept.isSound = kept.target.isOpen() && kept.file;
        }
        kept.isSound = kept.isSound && fill(kept, end, size);
        return kept.isSound ? &kept.target : nullptr;
    }

    static bool fill(Inflated& kept, std::uint64_t end, std::uint64_t size)
    {
        std::vector<char> part(kept.done < end ? 1 << 16 : 0);
        while (kept.done < end) {
            const auto step = std::size_t(std::min<std::uint64_t>(size - kept.done, part.size()));
            if (!readExactly(kept.file.get(), part.data(), step)
                || !kept.target.append(part.data(), step))
                return false;
            kept.done += step;
        }
        if (!kept.file || kept.done < size)
            return true;
        char extra = 0;
        const bool isWhole = zip_fread(kept.file.get(), &extra, 1) == 0; // verifies the checksum
        kept.file.reset();
        return isWhole;
    }

    // Returns the stream of an entry, positioned at `offset`; null on failure.
    Stream* at(std::size_t entry, bool isStored, std::uint64_t offset)
    {
        Stream* stream = find(entry);
        if (!stream || stream->position == offset)
            return stream;
        if (isStored) {
            if (zip_fseek(stream->file.get(), zip_int64_t(offset), SEEK_SET) != 0)
                return nullptr;
            stream->position = offset;
            return stream;
        }
        if (offset < stream->position) {
            restarts[entry] += offset != stream->first; // else it is another sequential pass
            open.pop_front();
            stream = start(entry);
        }
        if (!stream || !skip(stream->file.get(), offset - stream->position))
            return nullptr;
        if (stream->position == 0)
            stream->first = offset;
        stream->position = offset;
        return stream;
    }
};

ZipReader::ZipReader()
    : m_streams(std::make_unique<Streams>())
{
}

ZipReader::~ZipReader() = default;

Result<std::shared_ptr<ZipReader>> ZipReader::open(const std::string& path)
{
    QS_CHECK(checkReadable(path));
    std::shared_ptr<ZipReader> reader(new ZipReader);
    reader->m_path = path;
    int code = 0;
    reader->m_streams->zip.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
    zip_t* zip = reader->m_streams->zip.get();
    if (!zip)
        return fail(makeError(code == ZIP_ER_NOENT ? ErrorCode::NotFound : ErrorCode::BadInput,
                              code == ZIP_ER_NOENT ? "no such file" : "not a readable zip archive")
                        .inFile(path));
    const zip_int64_t count = zip_get_num_entries(zip, 0);
    for (zip_uint64_t i = 0; i < zip_uint64_t(std::max<zip_int64_t>(count, 0)); ++i) {
        zip_stat_t stat;
        zip_stat_init(&stat);
        const char* name = zip_get_name(zip, i, 0);
        if (!name || zip_stat_index(zip, i, 0, &stat) != 0)
            return fail(makeError(ErrorCode::BadInput, "has a damaged directory").inFile(path));
        reader->m_entries.push_back({name, stat.size, stat.comp_method == ZIP_CM_STORE});
    }
    return reader;
}

Result<void> ZipReader::read(std::size_t entry, std::uint64_t offset, std::uint64_t bytes,
                             void* target) const
{
    const std::lock_guard lock(m_mutex);
    if (const Scratch* scratch = m_streams->scratch(entry, offset + bytes, m_entries[entry].size))
        if (scratch->read(offset, bytes, static_cast<char*>(target)))
            return {};
    Streams::Stream* stream = m_streams->at(entry, m_entries[entry].isStored, offset);
    const bool read = stream && readExactly(stream->file.get(), static_cast<char*>(target), bytes);
    if (read)
        stream->position += bytes;
    // libzip checks the CRC at the end of the entry: read one more byte.
    char extra = 0;
    if (read
        && (stream->position < m_entries[entry].size
            || zip_fread(stream->file.get(), &extra, 1) == 0))
        return {};
    if (!m_streams->open.empty() && m_streams->open.front().entry == entry)
        m_streams->open.pop_front(); // its position is unknown now
    return fail(ErrorCode::BadInput, "is truncated or corrupt");
}

} // namespace qs
