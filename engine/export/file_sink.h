// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <fstream>
#include <functional>
#include <string>

namespace qs {

/// An output file for LibTorch's archive writers. `close` reports write errors such as a full disk:
/// the writers also write in their destructors, where a failure would terminate the program.
class FileSink
{
public:
    /// Fails (Io) if the file cannot be opened; names the path.
    static Result<FileSink> open(const std::string& path);

    /// The callback for the writers; it never fails.
    std::function<std::size_t(const void*, std::size_t)> writer();
    /// Closes the file. Fails (Io, with path and cause) if any write failed.
    Result<void> close();

private:
    std::string m_path;
    std::ofstream m_file;
    int m_cause = 0; ///< errno of the first write that failed
};

} // namespace qs
