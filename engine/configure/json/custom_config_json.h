// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/custom_config.h"

namespace qs {

/// Like `JsonPlace::object`, but recognizes torch.ao keys that are obsolete, internal or misplaced:
/// the error suggests the correct key.
Result<void> checkKeys(const JsonPlace& place, const std::vector<std::string>& allowed);

/// The recipe's `prepare` block: torch.ao's `PrepareCustomConfig.to_dict()`; Does not read
/// Horizon's keys. Accepts classes as printed by Python; the result has their names in models.
/// Errors: a name instead of a list, a mode without an observed class, a mapping without a mode.
Result<PrepareConfig> readPrepareConfig(const JsonPlace& place);
Json prepareToJson(const PrepareConfig& prepare);

/// The recipe's `convert` block: torch.ao's `ConvertCustomConfig.to_dict()`; Does not read the
/// block's other keys. Fails if an observed class of `prepare` appears under another mode than in
/// `prepare`.
Result<ConvertConfig> readConvertConfig(const JsonPlace& place, const PrepareConfig& prepare);
Json convertToJson(const ConvertConfig& convert);

} // namespace qs
