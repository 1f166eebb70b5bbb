// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/style/apply_rules.h"

namespace qs {

namespace {

constexpr std::size_t kRulesInLegend = 6;

NodeText withRule(NodeText words, const StyleRule& rule)
{
    if (rule.hideDetail) {
        words.detail.clear();
        words.inside.clear();
    }
    if (!rule.label.isEmpty())
        words.detail = words.detail.isEmpty()
            ? rule.label
            : QStringLiteral("%1 · %2").arg(rule.label, words.detail);
    return words;
}

} // namespace

void applyRules(GraphStyle& style, const GraphDrawing& drawing, const std::vector<StyleRule>& rules,
                const std::function<int(int entry)>& ruleOf)
{
    std::vector<bool> used(rules.size());
    for (std::size_t i = 0; i < style.nodes.size(); ++i) {
        const int rule = ruleOf(drawing.nodes[i].entry);
        if (rule < 0)
            continue;
        auto& nodeStyle = style.nodes[i];
        nodeStyle.rule = std::int8_t(rule);
        used[std::size_t(rule)] = true;
        if (const QColor colour(rules[std::size_t(rule)].colour); colour.isValid()) {
            nodeStyle.bar = colour.rgb();
            nodeStyle.painted = true;
        }
    }
    for (std::size_t i = 0; i < rules.size(); ++i)
        if (used[i] && style.ruleLegend.size() < kRulesInLegend)
            style.ruleLegend.push_back(
                {QColor(rules[i].colour),
                 rules[i].label.isEmpty() ? rules[i].query : rules[i].label});
    if (style.ruleLegend.empty())
        return;
    style.words = [plain = std::move(style.words), rules](int index, const NodeStyle& nodeStyle) {
        NodeText words = plain(index, nodeStyle);
        return nodeStyle.rule < 0 ? words
                                  : withRule(std::move(words), rules[std::size_t(nodeStyle.rule)]);
    };
}

} // namespace qs
