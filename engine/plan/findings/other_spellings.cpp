// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/findings/other_spellings.h"

#include "engine/base/text.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/graph/text/node_titles.h"
#include "engine/plan/alternatives.h"
#include "engine/plan/names/object_types.h"
#include "engine/plan/summaries/data_movement.h"

#include <map>
#include <set>

namespace qs {

namespace {

/// The operators with one name, in graph order.
struct Misspelled
{
    std::string wanted; ///< the name that the backend has
    std::vector<std::size_t> nodes;
};

/// The node's name if the file had no record of the call, as after an edit that replaces it.
std::string nameAnew(const Node& node)
{
    Node anew = node;
    anew.torchFn.clear();
    return ownNameOf(anew).name;
}

/// Data shared by the findings of all names.
struct Lookup
{
    std::set<std::string> listed; ///< names in the backend's patterns
    DataMovement movement;
    NodeTitles titles;
};

void reportSpelling(const Graph& graph, const std::string& name, const Misspelled& found,
                    const Lookup& lookup, Plan& plan)
{
    std::int64_t values = 0, bytes = 0;
    for (const std::size_t i : found.nodes) {
        const MovedAmount moved = lookup.movement.causedBy(plan, plan.nodes[i]);
        values += moved.values;
        bytes += moved.bytes;
    }
    const Node& first = *graph.nodes()[found.nodes.front()];
    const bool isOne = found.nodes.size() == 1;
    const bool isCurable = lookup.listed.contains(nameAnew(first));
    std::string text = inQuotes(lookup.titles.of(first))
        + (isOne ? "" : " and " + std::to_string(found.nodes.size() - 1) + " more") + ": " + name
        + (isOne ? " stays float: backend '" : " stay float: backend '") + plan.backend + "' lists "
        + found.wanted + " and not this spelling; for " + (isOne ? "it " : "them ")
        + counted(values, "value") + ", " + bytesText(double(bytes))
        + " a sample pass between int8 and float; write " + found.wanted + " in the model";
    const std::string target = wholeTarget(first.target);
    if (isCurable)
        text += ", or replace the call: \"edits\": [{\"do\": \"replace_every\", \"every\": \""
            + target + "\", \"op\": \"" + target + "\"}]";
    plan.findings.push_back({first.id, "other_spelling", text});
    if (isCurable)
        for (const std::size_t i : found.nodes)
            plan.nodes[i].remedy = {"replace every call of " + name + " by " + found.wanted
                                        + ", which backend '" + plan.backend + "' lists",
                                    {},
                                    false,
                                    {},
                                    target};
}

} // namespace

void findOtherSpellings(const Graph& graph, const std::vector<OpName>& names,
                        const Backend& backend, Plan& plan)
{
    Alternatives alternatives(backend);
    std::map<std::string, Misspelled> found;
    const auto nodes = graph.nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        NodePlan& decided = plan.nodes[i];
        if (decided.reason.code() != ReasonCode::NoBackendPattern
            || names[i].kind == OpName::Kind::Module)
            continue;
        const std::string wanted = alternatives.ownSpelling(names[i].name);
        if (wanted.empty())
            continue;
        decided.eligible = true;
        Misspelled& group = found[names[i].name];
        group.wanted = wanted;
        group.nodes.push_back(i);
    }
    if (found.empty())
        return;
    const Lookup lookup {patternNames(backend), DataMovement(graph, plan), NodeTitles(graph)};
    for (const auto& [name, group] : found)
        reportSpelling(graph, name, group, lookup, plan);
}

} // namespace qs
