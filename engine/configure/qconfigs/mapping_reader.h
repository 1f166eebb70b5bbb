// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/recipe.h"

namespace qs {

/// Reads a `mapping` block into rules, in file order. Qconfig names resolve to the recipe's own,
/// then to presets. Errors name the place and the valid choices.
Result<std::vector<Rule>> readMapping(const JsonPlace& place, const Recipe& recipe);

/// Reads `convert.qconfig_mapping`, torch.ao's late override: its nulls become rules with
/// `atConvert`. As in torch.ao, it can only remove qconfigs: the global one, and every other that
/// is not null, must equal the recipe's.
Result<std::vector<Rule>> readConvertMapping(const JsonPlace& place, const Recipe& recipe);

} // namespace qs
