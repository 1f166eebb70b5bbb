// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/files/atomic_file.h"
#include "engine/io/npz.h"

#include <memory>

namespace qs {

/// An .npz that is written a few rows at a time, however long its arrays become: memory holds the
/// rows of one call. The rows wait in unnamed files in the same folder; `commit` makes the .npz
/// appear whole, or not at all.
class NpzStream
{
public:
    /// Errors (Io) name the path.
    static Result<NpzStream> create(const std::string& path);
    NpzStream(NpzStream&&) noexcept;
    ~NpzStream();

    /// Adds rows (the first dimension) to the array of that name. Errors: no dimension to add
    /// along; other rows than the array's first ones (BadInput, naming the array); a full disk.
    Result<void> append(const NpyArray& rows);
    /// Errors: nothing was appended; those of writing.
    Result<void> commit();

private:
    struct Rows;
    NpzStream(std::string path, AtomicFile file);
    Result<Rows*> rowsOf(const NpyArray& first);

    std::string m_path;
    AtomicFile m_file;
    std::vector<std::unique_ptr<Rows>> m_arrays; ///< in the order of their first rows
};

} // namespace qs
