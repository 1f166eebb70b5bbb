// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/custom_config.h"

namespace qs {

/// Like `JsonPlace::object`, but recognizes keys that torch.ao had once, keeps inside, or has in
/// another place: the error says what to write instead.
Result<void> checkKeys(const JsonPlace& place, const std::vector<std::string>& allowed);

/// The recipe's `prepare` block: torch.ao's `PrepareCustomConfig.to_dict()`; Horizon's keys are
/// another reader's. Classes may stand as Python prints them; the result names them as models do.
/// Errors: a name in place of a list, a mode that has no observed class, a mapping without its
/// mode.
Result<PrepareConfig> readPrepareConfig(const JsonPlace& place);
Json prepareToJson(const PrepareConfig& prepare);

/// The recipe's `convert` block: torch.ao's `ConvertCustomConfig.to_dict()`; its other keys are
/// another reader's. An observed class of `prepare` under another mode than the one it is made for
/// is an error.
Result<ConvertConfig> readConvertConfig(const JsonPlace& place, const PrepareConfig& prepare);
Json convertToJson(const ConvertConfig& convert);

} // namespace qs
