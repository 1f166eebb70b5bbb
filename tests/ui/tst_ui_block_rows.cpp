// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/decoder_window.h"
#include "ui/frame/actions.h"
#include "ui/models/module_tree_model.h"
#include "ui/session/search/finder.h"
#include "ui/shell/actions/commands.h"

#include <QAbstractItemModelTester>
#include <QSettings>
#include <QStandardPaths>
#include <QTreeView>

using namespace qs;
using test::kLayers;

/// Blocks that are the same again are one row of the module tree, in step with the graph's box.
class TestBlockRows : public test::DecoderWindow
{
    Q_OBJECT

private:
    QTreeView& tree() { return *find<QTreeView>("moduleTree"); }
    QModelIndex layers()
    {
        const auto* model = static_cast<const ModuleTreeModel*>(tree().model());
        return model->indexOf(workspace().foldTree()->moduleEntry("model.layers"));
    }
    /// The rows below "layers": of blocks and of boxes around them.
    QStringList rows()
    {
        QStringList out;
        for (int row = 0; row < tree().model()->rowCount(layers()); ++row)
            out << tree().model()->index(row, 0, layers()).data().toString();
        return out;
    }
    QModelIndex row(int at, int column = 0) { return tree().model()->index(at, column, layers()); }
    int nodesOfLayer(int layer)
    {
        const auto& known = *workspace().foldTree();
        return int(
            known.nodesOf(known.moduleEntry("model.layers." + std::to_string(layer))).size());
    }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { QSettings().clear(); }
    void cleanup() { m_window.reset(); }

    void aRunIsOneRow()
    {
        openWindow();
        const QAbstractItemModelTester tester(tree().model());
        QCOMPARE(rows(), QStringList {QStringLiteral("layers.0–11 ×12 (DecoderLayer)")});
        QVERIFY(tree().isExpanded(layers())); // as there is room for it
        QVERIFY(!tree().isExpanded(row(0)));
        QCOMPARE(tree().model()->rowCount(row(0)), kLayers);
        QCOMPARE(tree().model()->index(3, 0, row(0)).data().toString(),
                 QStringLiteral("3 (DecoderLayer)"));
        // Without boxes in the graph the tree has no such row.
        m_window->actions()[ActionId::BoxRepeats].trigger();
        QTRY_COMPARE(rows().size(), kLayers);
        m_window->actions()[ActionId::BoxRepeats].trigger();
        QTRY_COMPARE(rows().size(), 1);
    }

    void theRowSelectsTheBox()
    {
        openWindow();
        tree().setCurrentIndex(row(0));
        QCOMPARE(workspace().selection().nodes().size(), std::size_t(kLayers * nodesOfLayer(0)));
        QCOMPARE(pane().selectedBlocks().size(), std::size_t(kLayers));
        QTRY_VERIFY(settled());
        QCOMPARE(boxLabels().size(), 1); // stays as it is
        // The other way round.
        workspace().selection().clear();
        QVERIFY(tree().selectionModel()->selectedRows().isEmpty());
        auto& view = pane().view();
        for (const auto& node : drawing().nodes)
            if (drawing().tree->entry(node.entry).repeats > 0) {
                view.centerOn(node.rect.center());
                QTest::mouseClick(view.viewport(), Qt::LeftButton, {},
                                  view.mapFromScene(node.rect.center()));
                break;
            }
        QCOMPARE(tree().selectionModel()->selectedRows(), QModelIndexList {row(0)});
        QVERIFY(!tree().isExpanded(row(0)));
        // What is around the box is unfolded where it was not, the box is not.
        workspace().selection().clear();
        pane().foldAll();
        QTRY_VERIFY(settled() && boxLabels().isEmpty());
        tree().setCurrentIndex({});
        tree().setCurrentIndex(row(0));
        QTRY_VERIFY(settled() && boxLabels().size() == 1);
        QCOMPARE(pane().selectedBlocks().size(), std::size_t(kLayers));
    }

    void bothUnfoldTogether()
    {
        openWindow();
        tree().expand(row(0));
        QTRY_VERIFY(settled() && boxLabels().isEmpty());
        QCOMPARE(rows().size(), 1);
        tree().collapse(row(0));
        QTRY_VERIFY(settled() && boxLabels().size() == 1);
        // By the graph.
        tree().setCurrentIndex(row(0));
        m_window->actions()[ActionId::Expand].trigger();
        QTRY_VERIFY(settled() && boxLabels().isEmpty());
        QTRY_VERIFY(tree().isExpanded(row(0)));
        workspace().selectEntry(workspace().foldTree()->moduleEntry("model.layers.3"));
        m_window->actions()[ActionId::Collapse].trigger();
        QTRY_VERIFY(settled() && boxLabels().size() == 1);
        QTRY_VERIFY(!tree().isExpanded(row(0)));
    }

    void oneIsTakenOut()
    {
        openWindow();
        pane().unfoldBlock(workspace().foldTree()->moduleEntry("model.layers.5"));
        QTRY_VERIFY(settled() && boxLabels().size() == 2);
        QCOMPARE(rows(),
                 QStringList({QStringLiteral("layers.0–4 ×5 (DecoderLayer)"),
                              QStringLiteral("5 (DecoderLayer)"),
                              QStringLiteral("layers.6–11 ×6 (DecoderLayer)")}));
        QVERIFY(tree().isExpanded(row(1)));
        QCOMPARE(tree().selectionModel()->selectedRows(), QModelIndexList {row(1)});
        // The row of some of them unfolds all.
        tree().expand(row(2));
        QTRY_VERIFY(settled() && boxLabels().isEmpty());
        QTRY_COMPARE(rows().size(), 1);
        QVERIFY(tree().isExpanded(row(0)));
        // What is found comes out of both.
        tree().collapse(row(0));
        QTRY_VERIFY(settled() && boxLabels().size() == 1);
        m_window->finder().setExpression(QStringLiteral("module:model.layers.7 op:silu"));
        m_window->actions()[ActionId::FindNext].trigger();
        QTRY_VERIFY(settled() && boxLabels().size() == 2);
        QTRY_COMPARE(rows().size(), 3);
        QCOMPARE(rows().at(1), QStringLiteral("7 (DecoderLayer)"));
    }

    /// Qt takes seconds to select thousands of rows.
    void hundredsOfSelectedOperatorsAreFewRows()
    {
        openWindow();
        m_window->actions()[ActionId::BoxRepeats].trigger();
        QTRY_COMPARE(rows().size(), kLayers);
        const auto& known = *workspace().foldTree();
        std::vector<int> blocks = known.entry(known.moduleEntry("model.layers")).children;
        workspace().selectEntries(blocks, false);
        QVERIFY(workspace().selectedEntries().size() > 256);
        QCOMPARE(tree().selectionModel()->selectedRows(), QModelIndexList {layers()});
        blocks.pop_back();
        workspace().selectEntries(blocks, false);
        QCOMPARE(tree().selectionModel()->selectedRows().size(), kLayers - 1);
        // Fewer are separate rows.
        workspace().selectEntries({blocks.front()}, false);
        QCOMPARE(std::size_t(tree().selectionModel()->selectedRows().size()),
                 workspace().selectedEntries().size());
        QVERIFY(workspace().selectedEntries().size() > 20);
    }

    void theRowShowsTheSpread()
    {
        openWindow();
        QVERIFY(row(0, ModuleTreeModel::ErrorColumn).data().toString().isEmpty());
        m_window->commands().runAll();
        QTRY_VERIFY(workspace().document().comparison() && settled());
        const auto& known = *workspace().foldTree();
        std::vector<double> errors;
        for (int i = 0; i < kLayers; ++i)
            errors.push_back(*workspace().facts().worstSqnr(
                known.nodesOf(known.moduleEntry("model.layers." + std::to_string(i))),
                ErrorTerm::BornHere));
        const auto [worst, best] = std::minmax_element(errors.begin(), errors.end());
        QTRY_COMPARE(rows().size(), 1);
        const QModelIndex cell = row(0, ModuleTreeModel::ErrorColumn);
        const QString tip = cell.data(Qt::ToolTipRole).toString();
        for (const double one : {*worst, *best}) {
            const QString whole = QString::number(std::lround(one));
            QVERIFY2(cell.data().toString().contains(whole), qPrintable(cell.data().toString()));
            QVERIFY2(tip.contains(shownSqnr(one)), qPrintable(tip));
        }
        // The other forms leave it as it is.
        pane().showForm(CodeForm::Lowered);
        QTRY_VERIFY(settled() && !boxLabels().isEmpty());
        QTRY_COMPARE(rows().size(), 1);
        tree().expand(row(0));
        QTRY_VERIFY(settled() && boxLabels().isEmpty());
        QTRY_VERIFY(tree().isExpanded(row(0)));
    }
};

QTEST_MAIN(TestBlockRows)
#include "tst_ui_block_rows.moc"
