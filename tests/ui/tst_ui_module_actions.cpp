// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/graph_edit.h"
#include "tests/support/fake_engine.h"
#include "ui/frame/actions.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/panels/module_panel.h"
#include "ui/shell/main_window.h"

#include <QLabel>
#include <QMenu>
#include <QStandardPaths>
#include <QTimer>
#include <QTreeView>
#include <QtTest>

using namespace qs;

using Names = std::vector<std::string>;

/// What the recipe says of a whole module, from the module tree. Every test has its own window on
/// the fake engine.
class TestModuleActions : public QObject
{
    Q_OBJECT

private:
    FakeEngine m_engine;
    std::unique_ptr<MainWindow> m_window;

    Workspace& workspace() { return m_window->workspace(); }
    QAction& action(ActionId id) { return m_window->actions()[id]; }
    Names listed(PrepareNames list) { return workspace().document().recipe().prepare.*list; }
    int entryOf(const std::string& path) { return workspace().foldTree()->moduleEntry(path); }
    void select(const std::string& path) { workspace().selectEntry(entryOf(path)); }
    bool settled()
    {
        return workspace().document().plan() && m_window->graphPane().isLayoutDone()
            && !workspace().document().isStale(Stage::Plan);
    }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init();
    void cleanup() { m_window.reset(); }
    void leafIsASwitchAndUndoable();
    void onlyOneModuleAtATime();
    void aWrappedModuleFoldsAndUnfolds();
    void aMethodBecomesAModuleOfTheTree();
    void theRowOfAModuleHasAMenu();
    void nothingIsOfferedWithoutAModule();
    void aFusedPairDoesNotSeizeItsModule();
    void floatAndLeafAreToldApart();
};

void TestModuleActions::init()
{
    GraphEdit edit(*fakeModel());
    for (const NodeId id : edit.order())
        if (edit.get(id).name == "add")
            edit.change(id).source.function = "merge";
    m_engine.model = std::make_shared<const Graph>(edit.build());
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->resize(1280, 800);
    m_window->show();
    m_window->openModel(QStringLiteral("/models/net.pt2"));
    QTRY_VERIFY(settled());
}

void TestModuleActions::leafIsASwitchAndUndoable()
{
    select("block");
    QVERIFY(action(ActionId::LeafModule).isEnabled() && !action(ActionId::LeafModule).isChecked());
    const int plans = m_engine.plans;
    action(ActionId::LeafModule).trigger();
    QCOMPARE(listed(&PrepareConfig::leafNames), Names {"block"});
    QVERIFY(action(ActionId::LeafModule).isChecked());
    QCOMPARE(workspace().undoStack().undoText(), QStringLiteral("keep block as a float leaf"));
    QTRY_VERIFY(m_engine.plans > plans); // the decision is planned at once
    workspace().undoStack().undo();
    QVERIFY(listed(&PrepareConfig::leafNames).empty());
    QVERIFY(!action(ActionId::LeafModule).isChecked());
    workspace().undoStack().redo();
    select("block");
    action(ActionId::LeafModule).trigger();
    QVERIFY(listed(&PrepareConfig::leafNames).empty());
}

void TestModuleActions::onlyOneModuleAtATime()
{
    select("block");
    action(ActionId::OnlyModule).trigger();
    QCOMPARE(listed(&PrepareConfig::onlyModules), Names {"block"});
    workspace().selectNode(workspace().document().model()->tryFind("linear")->id);
    QVERIFY(!action(ActionId::OnlyModule).isChecked()); // the selection is another module now
    action(ActionId::OnlyModule).trigger();
    QCOMPARE(listed(&PrepareConfig::onlyModules), Names {"fc"});
    action(ActionId::OnlyModule).trigger();
    QVERIFY(listed(&PrepareConfig::onlyModules).empty());
    QCOMPARE(workspace().undoStack().count(), 3);
}

void TestModuleActions::aWrappedModuleFoldsAndUnfolds()
{
    auto& pane = m_window->graphPane();
    pane.expandAll();
    QTRY_VERIFY(settled());
    QVERIFY(pane.expanded().count("block"));
    select("block");
    action(ActionId::WrapModule).trigger();
    QCOMPARE(listed(&PrepareConfig::wrap), Names {"block"});
    QTRY_VERIFY(settled() && !pane.expanded().count("block"));
    const FoldEntry& entry = workspace().foldTree()->entry(entryOf("block"));
    QCOMPARE(entry.wrap, std::string("block"));
    QTRY_VERIFY(pane.view().graphScene().drawing()->nodeShowing(entryOf("block")) >= 0);
    const int drawn = pane.view().graphScene().drawing()->nodeShowing(entryOf("block"));
    QTRY_VERIFY(pane.view().graphScene().canvas().style().text(drawn).detail.contains(
        QStringLiteral("one node")));
    pane.toggleFold(entryOf("block"), false); // its modules can still be reached
    QTRY_VERIFY(settled() && pane.expanded().count("block"));
    workspace().undoStack().undo();
    QTRY_VERIFY(workspace().foldTree()->entry(entryOf("block")).wrap.empty());
}

void TestModuleActions::aMethodBecomesAModuleOfTheTree()
{
    const auto add = workspace().document().model()->tryFind("add")->id;
    const auto model = workspace().document().model();
    const auto tree = FoldTree::build(*model, nullptr, wrappedScopes(*model, {"block::merge"}));
    const int method = tree->moduleEntry("block.merge()"); // one operator: the method is that unit
    QVERIFY(method >= 0);
    QCOMPARE(tree->unitOf(add), method);
    QCOMPARE(tree->entry(method).label, std::string("merge()"));
    QCOMPARE(moduleOfPath(tree->entry(method).path), std::string("block"));
    QCOMPARE(tree->entry(tree->entry(method).parent).path, std::string("block"));
    workspace().selectNode(add);
    QVERIFY(action(ActionId::WrapModule).isEnabled());
    action(ActionId::WrapModule).trigger();
    QCOMPARE(listed(&PrepareConfig::wrap), Names {"block::merge"});
}

void TestModuleActions::theRowOfAModuleHasAMenu()
{
    auto& tree = m_window->modulePanel().tree();
    select("block");
    const auto row = tree.currentIndex();
    QVERIFY(row.isValid());
    QStringList seen;
    QTimer::singleShot(0, this, [&] {
        auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
        if (!menu)
            return;
        for (auto* item : menu->actions())
            if (!item->isSeparator())
                seen << item->objectName();
        menu->close();
    });
    Q_EMIT tree.customContextMenuRequested(tree.visualRect(row).center());
    for (const ActionId id : {ActionId::LeafModule, ActionId::OnlyModule, ActionId::WrapModule})
        QVERIFY2(seen.contains(action(id).objectName()), qPrintable(seen.join(QLatin1Char(' '))));
}

void TestModuleActions::nothingIsOfferedWithoutAModule()
{
    workspace().selection().clear();
    for (const ActionId id : {ActionId::LeafModule, ActionId::OnlyModule, ActionId::WrapModule})
        QVERIFY(!action(id).isEnabled());
    workspace().selectEntry(FoldTree::kRoot);
    QVERIFY(!action(ActionId::LeafModule).isEnabled());
}

void TestModuleActions::aFusedPairDoesNotSeizeItsModule()
{
    const auto& model = *workspace().document().model();
    // conv2d_2 and its batch norm are a fused pair inside "block".
    workspace().selectNode(model.tryFind("conv2d_2")->id);
    QVERIFY(workspace().selection().nodes().size() > 1);
    for (const ActionId id : {ActionId::WrapModule, ActionId::LeafModule, ActionId::OnlyModule}) {
        QVERIFY2(!action(id).isEnabled(), qPrintable(action(id).objectName()));
        action(id).trigger();
    }
    QVERIFY(listed(&PrepareConfig::wrap).empty() && listed(&PrepareConfig::leafNames).empty());
    // A single layer is a module that can be left out; wrapping it would only make it float.
    workspace().selectNode(model.tryFind("linear")->id);
    QVERIFY(action(ActionId::LeafModule).isEnabled());
    QVERIFY(!action(ActionId::WrapModule).isEnabled());
    select("block");
    QVERIFY(action(ActionId::WrapModule).isEnabled());
}

void TestModuleActions::floatAndLeafAreToldApart()
{
    const auto text
        = [this](ActionId id) { return action(id).text().remove(QLatin1Char('&')).toLower(); };
    QVERIFY(text(ActionId::KeepFloat).contains(QStringLiteral("rule")));
    QVERIFY(text(ActionId::LeafModule).contains(QStringLiteral("module")));
    QVERIFY(!text(ActionId::LeafModule).contains(QStringLiteral("float")));
    for (const ActionId id : {ActionId::KeepFloat, ActionId::LeafModule, ActionId::WrapModule})
        QVERIFY2(!action(id).icon().isNull(), qPrintable(action(id).objectName()));
    QVERIFY(action(ActionId::KeepFloat).icon().pixmap(16).toImage()
            != action(ActionId::LeafModule).icon().pixmap(16).toImage());
}

QTEST_MAIN(TestModuleActions)
#include "tst_ui_module_actions.moc"
