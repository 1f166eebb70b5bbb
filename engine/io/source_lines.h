// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/node.h"

#include <string>
#include <vector>

namespace qs {

/// Lines of a Python file around a node's source line. For display only: never run.
struct SourceExcerpt
{
    std::string path; ///< path of the found file
    int line = 0; ///< the node's line, 1-based
    int firstLine = 1; ///< line number of `lines[0]`
    std::vector<std::string> lines; ///< made safe for display (`printable`)
    bool isSame = true; ///< the line equals the one recorded at export
};

/// Finds the file at the recorded path, else below `folder` by the longest existing suffix of the
/// recorded path; prefers a file whose line equals the recorded one. `around`: lines before and
/// after; negative: all. Fails if nothing was recorded, or if the file does not exist, is not a
/// Python file or lacks the line.
Result<SourceExcerpt> sourceLines(const SourceLocation& recorded, const std::string& folder,
                                  int around);

} // namespace qs
