// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/graph/style/graph_style.h"
#include "ui/session/search/style_rules.h"

#include <functional>

namespace qs {

/// Applies the style rules to the style of a drawing: the bar's colour, the label, hidden lines,
/// and the legend's entries. `ruleOf` returns the rule of an entry of the drawing's tree, or -1.
void applyRules(GraphStyle& style, const GraphDrawing& drawing, const std::vector<StyleRule>& rules,
                const std::function<int(int entry)>& ruleOf);

} // namespace qs
