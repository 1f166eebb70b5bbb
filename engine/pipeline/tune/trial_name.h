// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/cure.h"

#include <cstddef>
#include <string>
#include <vector>

namespace qs {

/// A search's trial as cures name it (`Cure::by`): "tune 1f3a, trial 4". `trial`: its index.
std::string trialName(const std::string& search, std::size_t trial);

/// The trial that a recipe's cures were taken from: the last one of the last search that its
/// enabled cures name. Empty without one.
std::string takenTrial(const std::vector<Cure>& cures);

} // namespace qs
