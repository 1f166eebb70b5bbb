// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>
#include <vector>

namespace qs {

/// The folder of `--out`. Files are made in a hidden folder inside it and moved to their names all
/// together at the end, so that a failed or cancelled run leaves nothing half done: neither a file
/// nor a folder that was not there before.
class ResultFolder
{
public:
    /// Makes the folder where needed, and removes what runs that were killed left hidden in it. The
    /// error (Io) names it and the cause.
    static Result<ResultFolder> create(const std::string& folder);
    ResultFolder(ResultFolder&& other) noexcept;
    ResultFolder& operator=(ResultFolder&&) = delete;
    /// Removes what was not published.
    ~ResultFolder();

    /// Where to make the files.
    const std::string& staging() const { return m_staging; }
    /// Moves every file into the folder, `last` after all others; returns their paths.
    Result<std::vector<std::string>> publish(const std::string& last);

private:
    ResultFolder() = default;

    std::string m_folder;
    std::string m_staging;
    int m_lock = -1; ///< the hidden folder's: held as long as the run lives
    std::string m_made; ///< the outermost folder that did not exist before, or empty
};

} // namespace qs
