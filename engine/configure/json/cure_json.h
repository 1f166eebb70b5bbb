// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/cure.h"
#include "engine/configure/json/edit_step_json.h"

namespace qs {

/// Returns the keys of each kind of cure, except "cure" and the common keys.
std::vector<EditKeys> cureKeys();
/// Returns the keys common to all kinds of cures: "gain_db", "by", "off".
const std::vector<std::string>& commonCureKeys();

/// Reads a recipe's list of cures. Errors name the place, an unknown key or kind with the nearest
/// valid one, and missing keys. Does not check cures against a model.
Result<std::vector<Cure>> readCures(const JsonPlace& place);
/// Returns the list's JSON; parses back to equal cures.
Json curesToJson(const std::vector<Cure>& cures);

/// Returns the enabled cures without informational members, for cache keys.
std::vector<Cure> countedCures(const std::vector<Cure>& cures);

} // namespace qs
