// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

struct archive;
struct archive_entry;

namespace qs {

/// A file in a tar archive: its name there and where its bytes are in the archive.
struct TarMember
{
    std::string name;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
};

/// A file opened for reading at any place. Owns the descriptor; any thread.
class PlacedFile
{
public:
    /// Errors: those of `checkReadable`; Io.
    static Result<PlacedFile> open(const std::string& path);
    PlacedFile(PlacedFile&& other) noexcept;
    PlacedFile& operator=(PlacedFile&&) = delete;
    ~PlacedFile();

    /// Returns that many bytes. Fails (Io), naming the file, if it has fewer.
    Result<std::string> read(std::uint64_t offset, std::uint64_t size) const;
    std::uint64_t size() const { return m_size; }
    int descriptor() const { return m_descriptor; }

private:
    PlacedFile() = default;

    std::string m_path;
    int m_descriptor = -1;
    std::uint64_t m_size = 0;
};

/// Lists the files of an uncompressed tar archive (ustar, pax, GNU). Reads headers only and skips
/// the content. Writes nothing to the disk: names with ".." and links have no effect. Thread: one.
class TarReader
{
public:
    /// Fails, naming the file, if it is compressed or no tar archive.
    static Result<TarReader> open(const std::string& path);

    /// Returns the next file; nullopt at the end. Directories are left out. Fails (BadInput),
    /// naming the file and the member, if a member is a link or sparse, or if the archive is
    /// truncated or damaged.
    Result<std::optional<TarMember>> next();
    /// True if the archive has the mark of its end: without it, it may be truncated between
    /// members. Known after the last `next`.
    bool hasEndMark() const { return m_hasEndMark; }
    /// Returns the bytes of a member.
    Result<std::string> content(const TarMember& member) const;

private:
    struct Close
    {
        void operator()(archive* opened) const;
    };
    TarReader(std::string path, PlacedFile file);
    Result<void> begin();
    Result<std::optional<TarMember>> memberOf(archive_entry& entry);
    Error damaged(const std::string& what) const;

    std::string m_path;
    PlacedFile m_file;
    std::unique_ptr<archive, Close> m_archive;
    std::string m_last; ///< name of the last member
    std::uint64_t m_end = 0; ///< end of its bytes
    bool m_hasEndMark = false;
};

/// Returns an error of a member: "FILE: member 'NAME' MESSAGE".
Error memberError(const std::string& file, const std::string& member, Error error);

} // namespace qs
