// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/base/result.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace qs {

/// How a document is written as text.
struct JsonLayout
{
    std::optional<unsigned> indent = {}; ///< spaces a level; none: on one line
    bool replaceInvalid = false; ///< bytes that are not UTF-8 become U+FFFD; else they throw
};

/// The text of `value`, as its `dump` writes it. Errors: a cancel, within 64 KiB of text.
Result<std::string> jsonText(const nlohmann::ordered_json& value, const JsonLayout& layout,
                             const JobContext& job);

} // namespace qs
