// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"
#include "engine/plan/plan.h"
#include "engine/plan/rules/rule_table.h"

namespace qs {

/// True if the rule also reaches the subject of `stronger` and is overridden there: then no user's
/// request is lost, as with the global rule beneath a layer's own.
bool isOverridden(const Rule& rule, const RuleHits& stronger);

/// Notes where a rule of the recipe gives a member of a fusion another qconfig than its first
/// operator has. One that reaches the first operator as well, where a stronger one overrides it,
/// loses nothing. Returns whether there is one to note.
bool noteConflict(const Unit& unit, std::size_t member, const RuleHits& root, const RuleHits& own,
                  Plan& plan);
/// Whether torch.ao would raise for want of a rule by object type for the member of the fusion: one
/// gives the first operator its qconfig. A batch norm is folded away before it looks.
bool lacksTypeRule(const Unit& unit, std::size_t member, const RuleHits& root, const RuleHits& own);

/// Warns of the noted conflicts, and of members `withoutRule` (`lacksTypeRule`): one line for all
/// where the same qconfig wins over the same.
void warnOfConflicts(const Graph& graph, const std::vector<FusionConflict>& withoutRule,
                     Plan& plan);

} // namespace qs
