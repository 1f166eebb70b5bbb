// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"
#include "engine/plan/plan.h"
#include "engine/plan/rules/rule_table.h"

namespace qs {

/// Whether the rule reaches what `stronger` are of as well and gives way there: then nothing is
/// lost that the user asked for, such as with the global rule beneath a layer's own.
bool isOverridden(const Rule& rule, const RuleHits& stronger);

/// Notes where a rule of the recipe gives a member of a fusion another qconfig than its first
/// operator has. One that reaches the first operator as well, where a stronger one overrides it,
/// loses nothing. Where a rule by object type gives the first operator a qconfig and none reaches
/// the member, torch.ao raises: noted as well. Returns whether a rule has no effect.
bool noteConflict(const Unit& unit, std::size_t member, const RuleHits& root, const RuleHits& own,
                  Plan& plan);
/// Warns of the noted conflicts: one line for all where the same qconfig wins over the same.
void warnOfConflicts(const Graph& graph, Plan& plan);

} // namespace qs
