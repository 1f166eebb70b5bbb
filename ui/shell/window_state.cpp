// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/window_state.h"

#include "ui/frame/actions.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/models/module_tree_model.h"
#include "ui/panels/module_panel.h"
#include "ui/shell/main_window.h"

#include <QComboBox>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSplitter>
#include <QTreeView>

namespace qs {

namespace {

const QString kStylesKey = QStringLiteral("styles");
const QString kColourKey = QStringLiteral("colour_by");
constexpr const char* kFormChoices[] = {"codeForm", "codeOtherForm"};

/// Calls `visit` with every module row of the tree and its path.
template<class Visit>
void forEachModule(MainWindow& window, Visit visit)
{
    const FoldTreePtr& tree = window.workspace().foldTree();
    auto& view = window.modulePanel().tree();
    const auto* model = qobject_cast<const ModuleTreeModel*>(view.model());
    if (!tree || !model)
        return;
    for (int i = 0; i < int(tree->size()); ++i)
        if (tree->entry(i).isModule())
            visit(view, model->indexOf(i), tree->entry(i).path);
}

} // namespace

QByteArray windowStateOf(const StyleRules& rules, const GraphPane& graph)
{
    QJsonObject state {
        {kStylesKey, QJsonDocument::fromJson(StyleRules::toJson(rules.rules())).array()}};
    const auto colour = graph.chosenColour();
    if (colour && *colour != ColourBy::Imported) // imported data are not stored in projects
        state[kColourKey] = colourByName(*colour);
    return QJsonDocument(state).toJson(QJsonDocument::Compact);
}

void applyWindowState(StyleRules& rules, GraphPane& graph, const QByteArray& state)
{
    const QJsonObject kept = QJsonDocument::fromJson(state).object();
    if (kept.contains(kStylesKey))
        rules.replace(StyleRules::fromJson(QJsonDocument(kept[kStylesKey].toArray()).toJson()));
    for (int by = 0; by < kColourByCount; ++by)
        if (kept[kColourKey].toString() == QLatin1String(colourByName(ColourBy(by))))
            graph.chooseColour(ColourBy(by));
}

ViewState viewStateOf(MainWindow& window)
{
    ViewState state;
    for (const ActionId id : kPanelActions)
        if (!window.actions()[id].isChecked())
            state.hiddenPanels.insert(id);
    for (const auto* splitter : window.findChildren<QSplitter*>())
        if (!splitter->objectName().isEmpty())
            state.splitters[splitter->objectName()] = splitter->saveState();
    for (const char* name : kFormChoices)
        if (const auto* box = window.findChild<QComboBox*>(QLatin1String(name)))
            state.forms[box->objectName()] = box->currentIndex();
    forEachModule(window,
                  [&](const QTreeView& view, const QModelIndex& row, const std::string& path) {
                      if (view.isExpanded(row))
                          state.openRows.insert(path);
                  });
    state.savedViews = window.savedViews().views();
    return state;
}

void applyViewState(MainWindow& window, const ViewState& state)
{
    for (const ActionId id : kPanelActions)
        window.actions()[id].setChecked(!state.hiddenPanels.contains(id));
    for (const auto& [name, sizes] : state.splitters)
        if (auto* splitter = window.findChild<QSplitter*>(name))
            splitter->restoreState(sizes);
    for (const auto& [name, index] : state.forms)
        if (auto* box = window.findChild<QComboBox*>(name); box && index < box->count())
            box->setCurrentIndex(index);
    forEachModule(window, [&](QTreeView& view, const QModelIndex& row, const std::string& path) {
        view.setExpanded(row, state.openRows.contains(path));
    });
    window.savedViews().setViews(state.savedViews);
}

} // namespace qs
