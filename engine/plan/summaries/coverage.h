// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/plan.h"

#include <map>
#include <span>
#include <string>

namespace qs {

/// How many operators a plan quantizes: the one source of every count in the window, on the command
/// line and in result documents ("coverage"). The words for it:
/// - operator: a node that computes (`Node::isOperator`). Inputs, outputs, parameters and constants
///   are not operators. Each member of a fusion counts; so does an operator that reads parameters
///   alone.
/// - eligible: an operator that some pattern of the backend matches; only those can be quantized.
/// - node, in the graph and in tables: one box, an operator or a whole fusion.
struct Coverage
{
    int quantized = 0; ///< eligible operators that will be quantized
    int eligible = 0, total = 0;
    std::map<Verdict, int> verdicts; ///< of all operators; they add up to `total`

    /// "18 of 24 eligible"
    std::string shortText() const;
    /// "18 of 24 eligible operators quantized, of 111 in all"
    std::string text() const;
    friend bool operator==(const Coverage&, const Coverage&) = default;
};

/// Coverage of the whole plan.
Coverage coverageOf(const Plan& plan);
/// Coverage of these nodes; ignores ids that the graph does not have.
Coverage coverageOf(const Graph& graph, const Plan& plan, std::span<const NodeId> nodes);
/// All operators of a module and the modules inside it; "" is the model.
std::vector<NodeId> operatorsIn(const Graph& graph, const std::string& modulePath);

/// The texts of `Coverage` for given counts, such as those of a saved run.
std::string coverageShortText(int quantized, int eligible);
std::string coverageText(int quantized, int eligible, int total);

} // namespace qs
