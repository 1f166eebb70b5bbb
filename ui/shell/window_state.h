// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/frame/action_id.h"
#include "ui/graph/view/saved_views.h"

#include <QByteArray>
#include <QString>

#include <map>
#include <set>
#include <string>

namespace qs {

class GraphPane;
class MainWindow;
class StyleRules;

/// What a project keeps of the window: the style rules and the colours that were chosen, as the
/// text of a JSON object.
QByteArray windowStateOf(const StyleRules& rules, const GraphPane& graph);
/// Takes over what a project kept; what it does not mention stays as it is.
void applyWindowState(StyleRules& rules, GraphPane& graph, const QByteArray& state);

/// How the user set up the panels, for panels made anew over the same workspace. A value.
struct ViewState
{
    std::set<ActionId> hiddenPanels; ///< by the action that shows one
    std::map<QString, QByteArray> splitters; ///< by object name
    std::map<QString, int> forms; ///< shown as code, by the choice's object name
    std::set<std::string> openRows; ///< of the module tree, by module path
    SavedViews::Views savedViews; ///< of the graph
};
ViewState viewStateOf(MainWindow& window);
void applyViewState(MainWindow& window, const ViewState& state);

} // namespace qs
