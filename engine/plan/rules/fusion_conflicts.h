// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"
#include "engine/plan/plan.h"
#include "engine/plan/rules/rule_table.h"

namespace qs {

/// True if the rule also reaches the subject of `stronger` and is overridden there, so that no
/// request of the user is lost: for example a global rule below a rule for the layer.
bool isOverridden(const Rule& rule, const RuleHits& stronger);

/// Records a conflict: a rule of the recipe gives a member of a fusion another qconfig than its
/// first operator has. A rule that also reaches the first operator, overridden by a stronger rule
/// there, is not a conflict. Returns whether there is one.
bool noteConflict(const Unit& unit, std::size_t member, const RuleHits& root, const RuleHits& own,
                  Plan& plan);
/// Whether torch.ao would raise because the member of the fusion lacks a rule by object type, while
/// such a rule decides the first operator. Not for a batch norm, which is folded before that check.
bool lacksTypeRule(const Unit& unit, std::size_t member, const RuleHits& root, const RuleHits& own);

/// Warns of the recorded conflicts, and of the members `withoutRule` (`lacksTypeRule`): one line
/// for all conflicts in which one qconfig wins over the same other one.
void warnOfConflicts(const Graph& graph, const std::vector<FusionConflict>& withoutRule,
                     Plan& plan);

} // namespace qs
