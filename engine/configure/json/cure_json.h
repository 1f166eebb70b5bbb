// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/cure.h"
#include "engine/configure/json/edit_step_json.h"

namespace qs {

/// The keys that cures of a kind are written with, beside "cure" and the keys of every kind.
std::vector<EditKeys> cureKeys();
/// The keys that every kind of cure takes: "gain_db", "by", "off".
const std::vector<std::string>& commonCureKeys();

/// Reads a recipe's list of cures. Errors name the place, an unknown key or kind with the nearest
/// one, and what is missing. Whether a cure fits a model is not checked here.
Result<std::vector<Cure>> readCures(const JsonPlace& place);
/// The list as it is written; parses back to equal cures.
Json curesToJson(const std::vector<Cure>& cures);

/// The cures that have an effect, without information-only members: the input of keys.
std::vector<Cure> countedCures(const std::vector<Cure>& cures);

} // namespace qs
