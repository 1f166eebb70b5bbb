// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace qs {

/// Checks, without opening it, that the path is a readable regular file. Fails with NotFound if it
/// does not exist, Io if it is a folder, a pipe, a device, a socket or not readable.
Result<void> checkReadable(const std::string& path);

/// Returns the whole content. Errors: those of `checkReadable`; BadInput if larger than `most`
/// bytes.
Result<std::string> readWholeFile(const std::string& path, std::uint64_t most);

/// Passes the whole content to `see` in blocks of at most a megabyte. Errors: those of
/// `checkReadable`; Cancelled.
Result<void> readInBlocks(const std::string& path, const JobContext& job,
                          const std::function<void(std::string_view)>& see);

/// True if a JSON text is nested deeper than any file of this program. Check before parsing, since
/// parsed values are copied, printed and traversed recursively.
bool isDeepJson(std::string_view json);

} // namespace qs
