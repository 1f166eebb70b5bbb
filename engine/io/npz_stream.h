// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/files/atomic_file.h"
#include "engine/io/npz.h"

#include <memory>

namespace qs {

/// Writes an .npz a few rows at a time; memory holds only the rows of one call. Rows are collected
/// in unnamed files in the same folder; `commit` creates the .npz atomically.
class NpzStream
{
public:
    /// Errors (Io) name the path.
    static Result<NpzStream> create(const std::string& path);
    NpzStream(NpzStream&&) noexcept;
    ~NpzStream();

    /// Appends rows (the first dimension) to the array of that name. Fails if it has no dimension,
    /// if type or row shape differ from the array's first rows (BadInput, names the array), or if
    /// the disk is full.
    Result<void> append(const NpyArray& rows);
    /// Writes the .npz. Fails if nothing was appended, or on a write error.
    Result<void> commit();

private:
    struct Rows;
    NpzStream(std::string path, AtomicFile file);
    Result<Rows*> rowsOf(const NpyArray& first);

    std::string m_path;
    AtomicFile m_file;
    std::vector<std::unique_ptr<Rows>> m_arrays; ///< ordered by their first rows
};

} // namespace qs
