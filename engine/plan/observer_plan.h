// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"
#include "engine/plan/plan.h"
#include "engine/plan/rules/rule_table.h"

namespace qs {

/// The decision on one match before any observer is placed.
struct Decision
{
    bool quantized = false;
    SharedQConfig qconfig; ///< set when quantized
    const Rule* rule = nullptr; ///< the table's rule that gave the qconfig
    ObservationType observation = ObservationType::OutputUseDifferentObserver;
    bool observeWeight = false; ///< the root is a module whose weight is quantized
    bool customModule = false; ///< the root is observed inside
    bool floatResult = false; ///< inputs are quantized; the result is not observed
};

/// The observers of a plan: where they are, and which values share one.
struct ObserverPlan
{
    std::vector<PlannedObserver> observers;
    /// Outputs that share the observer of an input, as one member of the match requires.
    std::vector<bool> shared; ///< by match
    /// Outputs that should share the observer of their input but stay float, because it has none.
    std::vector<bool> floating; ///< by match
    /// Inputs without an observer because they read such an output (as in torch.ao).
    std::vector<std::pair<NodeId, ValueRef>> blindInputs;
    std::unordered_map<NodeId, std::vector<Rule>> inputRules; ///< NodePlan::inputRules
};

/// Places observers as torch.ao's `insert_observers_for_model` does: in graph order, inputs of the
/// first operator of a match and the output of its last; an input already of the wanted dtype gets
/// no observer; observers of one class and dtype on one value are merged; operators that only move
/// or select values share the observer of their first input with their output and their other
/// inputs. An edge rule puts a separate observer on the edge, after the value's; if all readers of
/// a value have the same rule, it applies to the value's observer.
ObserverPlan planObservers(const Graph& graph, const OpNames& names, const Matches& matches,
                           const std::vector<Decision>& decisions, RuleTable& rules);

} // namespace qs
