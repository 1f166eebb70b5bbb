// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/recipe.h"

namespace qs {

/// Reads a `mapping` block into rules, in file order. Names of qconfigs are the recipe's own, then
/// presets. Errors name the place and the valid choices.
Result<std::vector<Rule>> readMapping(const JsonPlace& place, const Recipe& recipe);

/// Reads `convert.qconfig_mapping`, torch.ao's late override: its nulls become rules with
/// `atConvert`. As there, a qconfig can only be taken away: the global one must be the recipe's,
/// and so must every other that is not null.
Result<std::vector<Rule>> readConvertMapping(const JsonPlace& place, const Recipe& recipe);

} // namespace qs
