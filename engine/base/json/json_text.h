// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace qs {

/// Text format of a document.
struct JsonLayout
{
    std::optional<unsigned> indent = {}; ///< spaces per level; nullopt: a single line
    bool replaceInvalid = false; ///< true: invalid UTF-8 becomes U+FFFD; false: it throws
};

/// Returns the text of `value`, as `dump`. Fails with Cancelled within 64 KiB of text after a
/// cancel.
Result<std::string> jsonText(const nlohmann::ordered_json& value, const JsonLayout& layout,
                             const JobContext& job);

} // namespace qs
