// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/constraint_check.h"
#include "engine/plan/observer_plan.h"
#include "engine/plan/plan.h"

namespace qs {

/// The decision on one match, before observers are placed.
struct Verdicts
{
    Decision decision;
    Verdict verdict = Verdict::Quantized; ///< or the reason class if it stays float
    Reason reason; ///< empty when quantized
    std::string note; ///< as in NodePlan
    std::vector<Candidate> candidates; ///< dtype configs that do not accept the qconfig
    Remedy remedy {};
    NamedQConfig qconfig; ///< the effective qconfig, also if not accepted
    std::size_t ruledBy = 0; ///< index of the unit whose rules decided
    /// The edge rule that overrode them; points into the rule table.
    const Rule* nullEdge = nullptr;
    std::optional<DTypeConfig> dtypeConfig; ///< the matching config; nullopt if none
    std::string referenceModule;
};

/// Decides matches: determines the qconfig (a fusion uses that of its first operator; a chain of
/// functions uses the activation observer of its last), and checks that the backend supports it and
/// all tensors are float. Borrows its arguments.
class Decider
{
public:
    Decider(const Graph& graph, const OpNames& names, const Matches& matches,
            const Backend& backend);
    /// Decides one match. `hits`: by unit.
    Verdicts decide(const Match& match, const std::vector<RuleHits>& hits,
                    std::vector<std::string>& warnings) const;
    /// Returns the type's qconfig in the backend's default mapping (that of x86 for a user's
    /// backend).
    const NamedQConfig& usualQConfig(const OpName& root) const;

private:
    /// Returns the reference module of the entry whose root is the operator; "" if none.
    std::string referenceOf(const OpName& root) const;

    const Graph& m_graph;
    const OpNames& m_names;
    const Matches& m_matches;
    const Backend& m_backend;
    std::unordered_map<std::string, std::string> m_references; ///< reference modules by root module
    /// Qconfigs by type; "" = all other types.
    std::unordered_map<std::string, NamedQConfig> m_usual;
};

/// Keeps operators float if an edge rule of the recipe sets one of their inputs to null.
void applyNullEdges(const Graph& graph, const OpNames& names, const Matches& matches,
                    RuleTable& rules, std::vector<Verdicts>& verdicts,
                    std::vector<Decision>& decisions);

} // namespace qs
