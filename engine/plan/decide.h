// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/constraint_check.h"
#include "engine/plan/observer_plan.h"
#include "engine/plan/plan.h"

namespace qs {

/// The verdict on one match, before observers are placed.
struct Verdicts
{
    Decision decision;
    Verdict verdict = Verdict::Quantized; ///< or why it stays float
    Reason reason; ///< empty when quantized
    std::string note; ///< as NodePlan's
    std::vector<Candidate> candidates; ///< dtype configs that refused the qconfig
    Remedy remedy {};
    NamedQConfig qconfig; ///< the one in effect, also where it was refused
    std::size_t ruledBy = 0; ///< the unit whose rules decided
    const Rule* nullEdge = nullptr; ///< the edge rule that overrode them, of the table
    std::optional<DTypeConfig> dtypeConfig; ///< the one that fits; empty without one
    std::string referenceModule;
};

/// Decides a match: its qconfig (a fusion uses that of its first operator; a chain of functions
/// the activation observer of its last), whether the backend supports it, whether all tensors are
/// float. Borrows its arguments.
class Decider
{
public:
    Decider(const Graph& graph, const OpNames& names, const Matches& matches,
            const Backend& backend);
    /// `hits` by unit.
    Verdicts decide(const Match& match, const std::vector<RuleHits>& hits,
                    std::vector<std::string>& warnings) const;
    /// The qconfig of the type in the backend's default mapping (x86's for a user's backend).
    const NamedQConfig& usualQConfig(const OpName& root) const;

private:
    /// The reference module of the entry whose root the operator is; "" without one.
    std::string referenceOf(const OpName& root) const;

    const Graph& m_graph;
    const OpNames& m_names;
    const Matches& m_matches;
    const Backend& m_backend;
    std::unordered_map<std::string, std::string> m_references; ///< by root module
    std::unordered_map<std::string, NamedQConfig> m_usual; ///< by type; "" = all others
};

/// Keeps operators float whose recipe sets one of their inputs to null by an edge rule.
void applyNullEdges(const Graph& graph, const OpNames& names, const Matches& matches,
                    RuleTable& rules, std::vector<Verdicts>& verdicts,
                    std::vector<Decision>& decisions);

} // namespace qs
