// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"

#include <string>

namespace qs {

/// `fileSha256` for large files: checks the job once per megabyte. Errors: Io, which names the
/// file; Cancelled.
Result<std::string> fileSha256(const std::string& path, const JobContext& job);

} // namespace qs
