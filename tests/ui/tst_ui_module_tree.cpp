// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "ui/models/module_tree_model.h"
#include "ui/session/workspace.h"

#include <QAbstractItemModelTester>
#include <QtTest>

using namespace qs;

class TestModuleTree : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void foldsSingleOperatorModules();
    void joinsFusedNodesOfThePlan();
    void modelIsCleanAndFollowsTheDocument();
    void showsQConfigAndError();
};

void TestModuleTree::foldsSingleOperatorModules()
{
    const auto model = fakeModel();
    const auto tree = FoldTree::build(*model, nullptr);
    const auto& root = tree->entry(FoldTree::kRoot);
    QCOMPARE(root.label, std::string("Net"));
    QCOMPARE(root.units, 13);
    // x, conv1, bn1, relu, block, pool, flatten, fc, output: parameters are never rows.
    QCOMPARE(root.children.size(), std::size_t(9));
    QCOMPARE(tree->entry(root.children[1]).label, std::string("conv1"));
    const auto& block = tree->entry(tree->moduleEntry("block"));
    QVERIFY(block.isModule());
    QCOMPARE(block.units, 7);
    const Node* weight = model->tryFind("p_conv1_weight");
    QVERIFY(weight);
    QCOMPARE(tree->unitOf(weight->id), -1);
}

void TestModuleTree::joinsFusedNodesOfThePlan()
{
    FakeEngine engine;
    const auto plan = engine.plan(engine.model, defaultRecipe(), {});
    QVERIFY(plan);
    const auto tree = FoldTree::build(*engine.model, plan->get());
    const int stem = tree->unitOf(engine.model->tryFind("conv2d")->id);
    QCOMPARE(stem, tree->unitOf(engine.model->tryFind("relu")->id));
    QCOMPARE(tree->entry(stem).label, std::string("conv1·bn1·relu"));
    QCOMPARE(tree->entry(tree->unitOf(engine.model->tryFind("add")->id)).label,
             std::string("add·relu2"));
    QCOMPARE(tree->entry(FoldTree::kRoot).units, 7);
}

void TestModuleTree::modelIsCleanAndFollowsTheDocument()
{
    FakeEngine engine;
    Workspace workspace(engine);
    ModuleTreeModel model(workspace);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QCOMPARE(model.rowCount(), 0);
    workspace.pipeline().open("net.pt2", defaultRecipe());
    QTRY_VERIFY(workspace.document().plan());
    QCOMPARE(model.rowCount(), 1);
    const auto root = model.index(0, 0);
    QCOMPARE(model.rowCount(root), 7);
    workspace.pipeline().runUpTo(Stage::Compare);
    QTRY_VERIFY(workspace.document().comparison());
    for (std::size_t i = 0; i < workspace.foldTree()->size(); ++i) {
        const int entry = int(i);
        if (entry == FoldTree::kRoot || workspace.foldTree()->entry(entry).parent >= 0) {
            const auto index = model.indexOf(entry);
            QCOMPARE(model.entryOf(index), entry);
            QCOMPARE(model.index(index.row(), 0, model.parent(index)), index);
        }
    }
}

void TestModuleTree::showsQConfigAndError()
{
    FakeEngine engine;
    Workspace workspace(engine);
    ModuleTreeModel model(workspace);
    workspace.pipeline().open("net.pt2", defaultRecipe());
    QTRY_VERIFY(workspace.document().plan());
    workspace.assign({RuleKind::ModuleName, {"block"}}, std::string());
    QTRY_VERIFY(!workspace.document().isStale(Stage::Plan));
    const auto& tree = *workspace.foldTree();
    const auto text
        = [&](int entry, int column) { return model.indexOf(entry, column).data().toString(); };
    const int fc = tree.unitOf(workspace.document().model()->tryFind("linear")->id);
    QCOMPARE(text(tree.moduleEntry("block"), ModuleTreeModel::QConfigColumn),
             QStringLiteral("float"));
    QCOMPARE(text(fc, ModuleTreeModel::QConfigColumn), QStringLiteral("x86"));
    QCOMPARE(text(FoldTree::kRoot, ModuleTreeModel::QConfigColumn), QStringLiteral("mixed"));
    QVERIFY(text(fc, ModuleTreeModel::ErrorColumn).isEmpty());
    workspace.pipeline().runUpTo(Stage::Compare);
    QTRY_VERIFY(workspace.document().comparison());
    QCOMPARE(text(fc, ModuleTreeModel::ErrorColumn), QStringLiteral("30.0"));
    QCOMPARE(text(FoldTree::kRoot, ModuleTreeModel::ErrorColumn), QStringLiteral("30.0"));
    QVERIFY(model.indexOf(fc).data(ModuleTreeModel::ColorRole).isValid());
    QVERIFY(text(tree.moduleEntry("block"), ModuleTreeModel::ErrorColumn).isEmpty());
}

QTEST_MAIN(TestModuleTree)
#include "tst_ui_module_tree.moc"
