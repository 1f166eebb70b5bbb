// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"

namespace qs {

/// Like `JsonPlace::object`, but recognizes keys that torch.ao had once, keeps inside, or has in
/// another place: the error says what to write instead.
Result<void> checkKeys(const JsonPlace& place, const std::vector<std::string>& allowed);

/// The recipe's `prepare` block: torch.ao's `PrepareCustomConfig.to_dict()`. Classes may stand as
/// Python prints them; the result names them as models do. Errors: a name in place of a list, a
/// mode that has no observed class, a mapping without its mode.
Result<Json> readPrepareConfig(const JsonPlace& place);

/// The recipe's `convert` block: torch.ao's `ConvertCustomConfig.to_dict()`, with "lowering" and
/// "qconfig_mapping" left as they are. `prepareJson` is the recipe's own: an observed class under
/// another mode than the one it is made for is an error.
Result<Json> readConvertConfig(const JsonPlace& place, const std::string& prepareJson);

/// Classes that the recipe wants quantized as a whole and that are so only when asked for: under
/// "custom_modules", or as torch.ao asks, by a map from the class to its quantizable one.
std::vector<std::string> customModulesWanted(const std::string& prepareJson);

} // namespace qs
