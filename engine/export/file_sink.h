// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <fstream>
#include <functional>
#include <string>

namespace qs {

/// A file that LibTorch's archive writers write into. A full disk is reported at the end: the
/// writers' destructors write too and would end the program if they failed during an error.
class FileSink
{
public:
    /// The error (Io) names the path.
    static Result<FileSink> open(const std::string& path);

    /// The callback for the writers; it never fails.
    std::function<std::size_t(const void*, std::size_t)> writer();
    /// Whether everything reached the file. The error (Io) names path and cause.
    Result<void> close();

private:
    std::string m_path;
    std::ofstream m_file;
    int m_cause = 0; ///< errno of the first write that failed
};

} // namespace qs
