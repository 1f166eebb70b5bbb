// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <optional>
#include <string>

namespace qs {

/// Most bytes of a member that holds a label.
inline constexpr std::uint64_t kMostLabelBytes = std::uint64_t(1) << 20;

/// Returns the label in the content of a `.cls` member, a decimal number of 0 or more. Errors name
/// no file.
Result<std::int64_t> labelOfText(const std::string& content);

/// Returns the label in the content of a `.json` member: its key "label", "cls" or "class"; nullopt
/// if it has none of these. Errors name no file.
Result<std::optional<std::int64_t>> labelOfJson(const std::string& content);

} // namespace qs
