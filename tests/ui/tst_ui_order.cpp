// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/removing_engine.h"
#include "tests/support/typing_engine.h"
#include "tests/ui/session_order.h"

#include <QEventLoop>
#include <QtTest>

using namespace qs;

/// One order of notification for all views: the graph, decisions and results, what is derived, the
/// selection. Whatever a slot asks for at a signal is of one graph.
class TestOrder : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_workspace = std::make_unique<Workspace>(m_engine);
        m_order = std::make_unique<test::SessionOrder>(workspace());
        workspace().pipeline().open("net.pt2", defaultRecipe());
        QTRY_VERIFY(document().plan() && !workspace().pipeline().isBusy());
    }
    void cleanup()
    {
        QCOMPARE(m_order->wrong(), QStringList());
        m_order.reset();
        m_workspace.reset();
    }

    void aModelComesFirst()
    {
        const QStringList heard = m_order->take();
        QVERIFY2(heard.join(' ').startsWith("model tree recipe settings plan results facts"),
                 qPrintable(heard.join(' ')));
    }

    void aSelectionComesLast()
    {
        workspace().selectNode(node("relu"));
        runAll();
        m_order->take();
        removeNode("relu");
        QTRY_VERIFY(!document().isGraphStale() && !document().model()->tryFind("relu"));
        const QString heard = m_order->take().join(' ');
        QVERIFY2(
            heard.startsWith("recipe results facts saved graph tree plan results facts selection"),
            qPrintable(heard));
        QCOMPARE(workspace().selection().nodes().size(), std::size_t(2)); // the rest of its unit
        workspace().undoStack().undo();
        QTRY_VERIFY(!document().isGraphStale() && document().model()->tryFind("relu"));
    }

    void whatIsSelectedStaysInStep()
    {
        const Edge edge {{node("relu"), 0}, document().model()->users({node("relu"), 0}).front()};
        workspace().selectEdge(edge);
        removeNode("relu");
        QTRY_VERIFY(!document().isGraphStale());
        QVERIFY(!workspace().selection().edge());
        workspace().undoStack().undo();
        QTRY_VERIFY(!document().isGraphStale());
        // A module keeps what is left of it, with what was added.
        const int block = workspace().foldTree()->moduleEntry("block");
        workspace().selectEntry(block);
        const std::size_t count = workspace().selection().nodes().size();
        removeNode("relu_1");
        QTRY_VERIFY(!document().isGraphStale());
        QVERIFY(workspace().selection().isModule());
        QCOMPARE(workspace().selection().nodes().size(), count - 1);
        workspace().undoStack().undo();
        QTRY_VERIFY(!document().isGraphStale());
        QCOMPARE(workspace().selection().nodes().size(), count);
        // Another model has nothing selected.
        workspace().pipeline().open("other.pt2", defaultRecipe());
        QTRY_VERIFY(document().plan() && !workspace().pipeline().isBusy());
        QVERIFY(workspace().selection().isEmpty());
    }

    /// What a slot changes is there at once, and delivered after the signal under way has reached
    /// every slot.
    void whatASlotChangesComesAfterItsSignal()
    {
        QStringList heard;
        connect(&workspace(), &Workspace::treeChanged, this, [&, done = false]() mutable {
            if (std::exchange(done, true))
                return;
            workspace().selectNode(node("linear"));
            Recipe recipe = document().recipe();
            recipe.calibration.batches = 3;
            document().setRecipe(recipe);
            QCOMPARE(document().recipe().calibration.batches, 3);
            heard << "first";
        });
        connect(&workspace(), &Workspace::treeChanged, this, [&] { heard << "tree"; });
        connect(&document(), &Document::recipeChanged, this, [&] { heard << "recipe"; });
        connect(&workspace().selection(), &Selection::changed, this, [&] { heard << "selection"; });
        removeNode("relu");
        heard.clear();
        QTRY_VERIFY(!document().model()->tryFind("relu"));
        QVERIFY2(heard.join(' ').startsWith("first tree recipe"), qPrintable(heard.join(' ')));
        QVERIFY(heard.contains("selection"));
        QVERIFY(heard.indexOf("selection") > heard.indexOf("recipe"));
    }

    /// A slot that waits for an answer does not hold back what happens meanwhile.
    void aSlotThatWaitsHoldsNothingBack()
    {
        bool heard = false;
        connect(&document(), &Document::recipeChanged, this, [&, done = false]() mutable {
            if (std::exchange(done, true))
                return;
            QEventLoop loop;
            connect(&workspace().selection(), &Selection::changed, &loop, [&] {
                heard = true;
                loop.quit();
            });
            QTimer::singleShot(0, this, [this] { workspace().selectNode(node("linear")); });
            QTimer::singleShot(5000, &loop, &QEventLoop::quit);
            loop.exec();
        });
        workspace().assign({RuleKind::Node, {"relu"}}, std::string());
        QVERIFY(heard);
    }

    void runsAndTypesKeepStep()
    {
        TypingEngine typing;
        m_order.reset();
        m_workspace = std::make_unique<Workspace>(typing);
        m_order = std::make_unique<test::SessionOrder>(workspace());
        workspace().pipeline().open("net.pt2", defaultRecipe());
        QTRY_VERIFY(document().plan() && !workspace().pipeline().isBusy());
        workspace().selectNode(node("relu"));
        runAll();
        workspace().assign({RuleKind::Node, {"linear"}}, std::string());
        QTRY_VERIFY(!document().isStale(Stage::Plan) && !workspace().pipeline().isBusy());
        QCOMPARE(m_order->wrong(), QStringList());
        m_order.reset();
        m_workspace.reset();
        init(); // the typing engine goes
    }

private:
    Workspace& workspace() { return *m_workspace; }
    Document& document() { return m_workspace->document(); }
    NodeId node(const char* name) { return document().model()->tryFind(name)->id; }
    void runAll()
    {
        workspace().pipeline().runUpTo(Stage::Compare);
        QTRY_VERIFY(document().comparison() && !workspace().pipeline().isBusy());
    }
    /// One step; the edited graph is planned automatically.
    void removeNode(const char* name)
    {
        Recipe recipe = document().recipe();
        EditStep step;
        step.kind = EditKind::Remove;
        step.at = document().edited()->addresses->of({node(name), 0});
        recipe.edits.push_back(step);
        workspace().change("remove", recipe);
    }

    RemovingEngine m_engine;
    std::unique_ptr<Workspace> m_workspace;
    std::unique_ptr<test::SessionOrder> m_order;
};

QTEST_MAIN(TestOrder)
#include "tst_ui_order.moc"
