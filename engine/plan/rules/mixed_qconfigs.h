// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"
#include "engine/plan/rules/rule_table.h"

namespace qs {

/// The beginning of the warning about a recipe whose qconfigs are all for training.
inline constexpr const char* kForTraining = "the recipe's qconfigs are for training";

/// Refuses a recipe that gives some operators qconfigs for calibration and others qconfigs for
/// training (fake-quantize); the error names operators and rules of each kind. torch.ao accepts
/// such a mixture silently and inserts fake-quantize modules among the observers. Counts only
/// operators of a backend pattern and edge rules, not the entries that a setter preset adds. A
/// recipe with only qconfigs for training gets a warning: this program does not train, but
/// calibrates with the observers inside them. `hits`: the rules of each unit, strongest first.
Result<void> checkMixedQConfigs(const Graph& graph, const Matches& matches,
                                const std::vector<RuleHits>& hits, const QConfigMapping& mapping,
                                std::vector<std::string>& warnings);

} // namespace qs
