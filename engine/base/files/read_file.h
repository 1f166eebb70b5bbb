// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace qs {

/// Checks, before it is opened, that the path is a file with an end. Errors: it does not exist
/// (NotFound); it is a folder, a pipe, a device or a socket, or may not be read (Io).
Result<void> checkReadable(const std::string& path);

/// The whole content. Errors: those of `checkReadable`; larger than `most` bytes (BadInput).
Result<std::string> readWholeFile(const std::string& path, std::uint64_t most);

/// Gives the whole content to `see`, a block of at most a megabyte at a time. Errors: those of
/// `checkReadable`; Cancelled.
Result<void> readInBlocks(const std::string& path, const JobContext& job,
                          const std::function<void(std::string_view)>& see);

/// True if a JSON text nests deeper than any file of this program. Check it before parsing: parsed
/// values are copied, printed and walked recursively.
bool isDeepJson(std::string_view json);

} // namespace qs
