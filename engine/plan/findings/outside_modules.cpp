// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/findings/outside_modules.h"

#include "engine/base/text.h"

#include <algorithm>

namespace qs {

namespace {

constexpr std::size_t kMostParts = 8;

/// The outermost module that the operator belongs to; "" for the model's own code.
std::string outermostModule(const Node& node)
{
    return node.scope.path.substr(0, node.scope.path.find('.'));
}

} // namespace

void findOutsideModules(const Graph& graph, const ModuleChoices& choices, Plan& plan)
{
    std::vector<std::pair<std::string, std::int64_t>> parts; // in graph order
    const Node* first = nullptr;
    std::int64_t outside = 0, all = 0;
    for (const NodePtr& node : graph.nodes()) {
        if (!node->isOperator())
            continue;
        ++all;
        const ModuleChoice* choice = choices.tryGet(node->id);
        if (!choice || choice->reason.code() != ReasonCode::OutsideOnlyModules)
            continue;
        first = first ? first : node.get();
        ++outside;
        const std::string module = outermostModule(*node);
        auto part = std::find_if(parts.begin(), parts.end(),
                                 [&](const auto& one) { return one.first == module; });
        if (part == parts.end())
            part = parts.insert(parts.end(), {module, 0});
        ++part->second;
    }
    if (!first)
        return;
    std::string text;
    for (std::size_t i = 0; i < std::min(parts.size(), kMostParts); ++i)
        text += (i ? ", " : "") + std::to_string(parts[i].second) + " of "
            + (parts[i].first.empty() ? "the model's own code" : inQuotes(parts[i].first));
    if (parts.size() > kMostParts)
        text += " and of " + std::to_string(parts.size() - kMostParts) + " more modules";
    plan.findings.push_back({first->id, "outside_only_modules",
                             "prepare.only_modules leaves " + std::to_string(outside) + " of "
                                 + counted(all, "operator") + " outside, in float: " + text});
}

} // namespace qs
