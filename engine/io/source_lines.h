// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/node.h"

#include <string>
#include <vector>

namespace qs {

/// Lines of a Python file around the one that a node came from. For display only: never run.
struct SourceExcerpt
{
    std::string path; ///< where the file was found
    int line = 0; ///< the node's, from 1
    int firstLine = 1; ///< of `lines`
    std::vector<std::string> lines; ///< as they may reach a screen (`printable`)
    bool isSame = true; ///< the line reads as it did when the model was exported
};

/// Finds the file as the model recorded it, else below `folder` under as much of the recorded path
/// as is there, longest first; one whose line reads as recorded is preferred. `around`: lines
/// before and after; negative: all. Errors: nothing was recorded, no such file, not a Python file,
/// one without that line.
Result<SourceExcerpt> sourceLines(const SourceLocation& recorded, const std::string& folder,
                                  int around);

} // namespace qs
