// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/edge_window.h"
#include "ui/edit/edit_dialog.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/style/theme.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QMenu>
#include <QTimer>
#include <QtTest>

using namespace qs;
using namespace qs::test;

/// Feeding an input by dragging in the graph: the same edit as the command's, one step to undo;
/// what cannot be stands back and is refused in one line.
class TestEditDrags : public WindowTest<RealEngine>
{
    Q_OBJECT

private:
    GraphView& view() { return pane().view(); }
    const GraphDrawing& drawing() { return *view().graphScene().drawing(); }
    const Recipe& recipe() { return workspace().document().recipe(); }
    void settle()
    {
        QTRY_VERIFY_WITH_TIMEOUT(settled() && !workspace().document().isGraphStale(), 60000);
    }

    QPoint middleOf(const char* name)
    {
        const NodeId shown = drawing().graph->tryFind(name)->id;
        return view().mapFromScene(drawing().rectOf(drawing().tree->unitOf(shown)).center());
    }

    /// A point on a line from the one to the other, where nothing else is.
    QPoint onEdge(const char* from, const char* to)
    {
        const int reader = drawing().tree->unitOf(node(to));
        const int maker = drawing().tree->unitOf(node(from));
        for (std::size_t e = 0; e < drawing().edges.size(); ++e) {
            const DrawnEdge& edge = drawing().edges[e];
            if (edge.toEntry != reader || drawing().tree->unitOf(edge.value.node) != maker)
                continue;
            for (int i = 1; i < 40; ++i) {
                const QPointF at = drawing().pathOf(edge).pointAtPercent(i / 40.0);
                if (view().graphScene().canvas().nodeAt(at) < 0
                    && view().graphScene().canvas().frameHeaderAt(at) < 0
                    && drawing().edgeAt(at, 2) == int(e))
                    return view().mapFromScene(at);
            }
        }
        qFatal("no line from %s to %s", from, to);
    }

    void drag(QPoint from, QPoint to, Qt::KeyboardModifiers modifiers, bool letGo = true)
    {
        QTest::mousePress(view().viewport(), Qt::LeftButton, modifiers, from);
        for (int i = 1; i <= 4; ++i) { // QTest's moves hold no button
            const QPoint at = from + (to - from) * i / 4;
            QMouseEvent move(QEvent::MouseMove, at, view().viewport()->mapToGlobal(at),
                             Qt::NoButton, Qt::LeftButton, modifiers);
            QApplication::sendEvent(view().viewport(), &move);
        }
        if (letGo)
            QTest::mouseRelease(view().viewport(), Qt::LeftButton, modifiers, to);
    }

    std::string readBy(const char* name, std::size_t argument)
    {
        const GraphPtr& model = workspace().document().model();
        return model->value(*model->tryFind(name)->args.at(argument).value.asRef()).name;
    }

private Q_SLOTS:
    void init()
    {
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 1000);
        m_window->show();
        m_window->openModel(kSamples + "digits.pt2");
        settle();
        pane().expandAll();
        settle();
        view().fitAll();
    }
    void cleanup() { m_window.reset(); }

    void anEdgeIsTakenToAnotherNode()
    {
        const Recipe before = recipe();
        // By the command first.
        const GraphPtr model = workspace().document().model();
        const Node& add = *model->tryFind("add");
        const std::string was = readBy("add", 1);
        workspace().selection().selectNodes({add.id});
        m_window->actions()[ActionId::RewireInput].trigger();
        auto* dialog = m_window->findChild<EditDialog*>();
        QVERIFY(dialog);
        dialog->findChild<QComboBox*>("editInput")->setCurrentIndex(1);
        dialog->findChild<QComboBox*>("editChoice")->setCurrentText(QStringLiteral("relu_1"));
        QTest::keyClick(dialog, Qt::Key_Return);
        QTRY_VERIFY(!(recipe() == before));
        settle();
        const Recipe byCommand = recipe();
        QVERIFY(readBy("add", 1) != was);
        workspace().undoStack().undo();
        settle();
        QCOMPARE(readBy("add", 1), was);
        // Then by Alt+drag, and by dragging the edge that is looked at.
        const char* maker = "relu";
        drag(onEdge(maker, "add"), middleOf("relu_1"), Qt::AltModifier);
        QTRY_VERIFY(!(recipe() == before));
        settle();
        QVERIFY(recipe() == byCommand);
        workspace().undoStack().undo();
        settle();
        QVERIFY(recipe() == before);
        view().fitAll();
        QTest::mouseClick(view().viewport(), Qt::LeftButton, {}, onEdge(maker, "add"));
        QVERIFY(workspace().selection().edge());
        QCOMPARE(workspace().selection().edge()->reader.node, node("add"));
        drag(onEdge(maker, "add"), middleOf("relu_1"), {});
        QTRY_VERIFY(recipe() == byCommand);
        settle();
    }

    /// The same in a converted form: its own values, read by its own operators.
    void aFormIsFedByDragging()
    {
        const Recipe before = recipe();
        workspace().pipeline().runUpTo(Stage::Convert);
        QTRY_VERIFY_WITH_TIMEOUT(workspace().document().hasResult(Stage::Convert) && settled(),
                                 120000);
        pane().showForm(CodeForm::Reference);
        QTRY_VERIFY_WITH_TIMEOUT(
            view().graphScene().drawing()
                && drawing().graph == workspace().document().converted()->reference && settled(),
            60000);
        pane().expandAll();
        settle();
        view().fitAll();
        const GraphPtr form = workspace().document().converted()->reference;
        const Node& add = *form->tryFind("add");
        const ValueRef first = *add.args.at(0).value.asRef(),
                       second = *add.args.at(1).value.asRef();
        drag(middleOf(form->get(first.node).name.c_str()), middleOf("add"), Qt::AltModifier);
        QTRY_VERIFY_WITH_TIMEOUT(!(recipe() == before), 60000);
        settle();
        QCOMPARE(recipe().edits.size(), before.edits.size() + 1);
        QVERIFY(recipe().edits.back().form == EditForm::Reference);
        QVERIFY(recipe().edits.back().kind == EditKind::Rewire);
        QTRY_VERIFY_WITH_TIMEOUT(!workspace().document().isStale(Stage::Convert), 60000);
        const GraphPtr now = workspace().document().converted()->reference;
        QCOMPARE(*now->tryFind("add")->args.at(1).value.asRef(), first);
        QVERIFY(!(first == second));
        workspace().undoStack().undo();
        settle();
        QVERIFY(recipe() == before);
    }

    void aValueIsTakenToAReader()
    {
        const Recipe before = recipe();
        // Two inputs could take it: the menu asks.
        QTimer::singleShot(200, [] {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            QVERIFY(menu);
            QCOMPARE(menu->actions().size(), 2);
            QTest::keyClick(menu, Qt::Key_Down);
            QTest::keyClick(menu, Qt::Key_Down);
            QTest::keyClick(menu, Qt::Key_Return);
        });
        drag(middleOf("relu_1"), middleOf("add"), Qt::AltModifier);
        QTRY_VERIFY(!(recipe() == before));
        settle();
        QCOMPARE(recipe().edits.size(), std::size_t(1));
        QCOMPARE(recipe().edits[0].kind, EditKind::Rewire);
        QCOMPARE(readBy("add", 1), std::string("relu_1"));
    }

    void whatCannotBeStandsBackAndIsRefused()
    {
        const Recipe before = recipe();
        const QPoint target = middleOf("add"), from = onEdge("relu", "conv2d_1");
        drag(from, target, Qt::AltModifier, false);
        const QImage dragging = view().grab().toImage();
        QTest::mouseRelease(view().viewport(), Qt::LeftButton, Qt::AltModifier, target);
        QTRY_VERIFY(m_window->messageBar().isVisible());
        QVERIFY(recipe() == before);
        const QString shown = qEnvironmentVariable("QS_KEEP_PICTURES");
        if (!shown.isEmpty())
            dragging.save(shown + QStringLiteral("/rewire_drag.png"));
        // Escape gives it up; a drag without Alt on nothing selected still moves the picture.
        drag(from, middleOf("relu_1"), Qt::AltModifier, false);
        QTest::keyClick(&view(), Qt::Key_Escape);
        QTest::mouseRelease(view().viewport(), Qt::LeftButton, Qt::AltModifier, middleOf("relu_1"));
        QTest::qWait(50);
        QVERIFY(recipe() == before);
        workspace().selection().clear();
        view().setZoom(2);
        const QPointF middle = view().mapToScene(view().viewport()->rect().center());
        drag(view().viewport()->rect().center(), view().viewport()->rect().center() - QPoint(0, 90),
             {});
        QVERIFY(view().mapToScene(view().viewport()->rect().center()) != middle);
        QVERIFY(recipe() == before);
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestEditDrags test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_edit_drags.moc"
