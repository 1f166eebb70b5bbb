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

/// The state of the window in a project: the style rules and the chosen colours, as the text of a
/// JSON object.
QByteArray windowStateOf(const StyleRules& rules, const GraphPane& graph);
/// Applies a project's state; settings that it does not mention do not change.
void applyWindowState(StyleRules& rules, GraphPane& graph, const QByteArray& state);

/// The user's set-up of the panels, for rebuilt panels over the same workspace. A value.
struct ViewState
{
    std::set<ActionId> hiddenPanels; ///< by their actions
    std::map<QString, QByteArray> splitters; ///< by object name
    std::map<QString, int> forms; ///< shown as code, by object name of the combo box
    std::set<std::string> openRows; ///< of the module tree, by module path
    SavedViews::Views savedViews; ///< of the graph, by digit
};
ViewState viewStateOf(MainWindow& window);
void applyViewState(MainWindow& window, const ViewState& state);

} // namespace qs
