// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"
#include "engine/plan/rules/rule_table.h"

namespace qs {

/// Refuses a recipe that gives some operators qconfigs for calibration and others qconfigs for
/// training (fake-quantize); the error names operators and rules of each kind. torch.ao takes such
/// a mixture in silence and puts fake-quantize modules among the observers. Only operators of a
/// backend pattern and edge rules count; the entries that a setter preset brings along never do. A
/// recipe that is all for training gets a warning: nothing is trained here, its values are
/// calibrated with the observers inside. `hits` are the rules of each unit, strongest first.
Result<void> checkMixedQConfigs(const Graph& graph, const Matches& matches,
                                const std::vector<RuleHits>& hits, const QConfigMapping& mapping,
                                std::vector<std::string>& warnings);

} // namespace qs
