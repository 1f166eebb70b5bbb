// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/dialogs.h"
#include "tests/ui/edits_window.h"
#include "tests/ui/session_order.h"
#include "ui/edit/graph_editor.h"
#include "ui/session/text.h"
#include "ui/shell/actions/selection_menu.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QPushButton>

using namespace qs;
using namespace qs::test;

/// What the commands that change the graph are about: an edge, every member of a fused unit, or the
/// member that is asked for; by keys and from context menus, with plots shown and undone.
class TestEditTargets : public EditsWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { startEngine(); }
    void init()
    {
        openSample();
        m_order = std::make_unique<SessionOrder>(workspace());
    }
    void cleanup()
    {
        QCOMPARE(m_order->wrong(), QStringList());
        m_order.reset();
        m_window.reset();
    }

    /// The plots hold what was compared while another graph comes.
    void deletingAfterACompareShowsTheNextGraph()
    {
        m_window->showTab("errorBarPlot");
        for (const char* module : {"stem", "block1.conv1", "block1.conv2"}) {
            workspace().pipeline().runUpTo(Stage::Compare);
            settle();
            QVERIFY(isCurrent(Stage::Compare));
            const Recipe before = document().recipe();
            selectUnit(module);
            QApplication::processEvents();
            press(Qt::Key_Delete, {});
            QTRY_VERIFY(document().recipe().edits.size() > before.edits.size()
                        || m_window->messageBar().isVisible());
            settle();
            QApplication::processEvents();
            m_window->messageBar().dismiss();
            while (!(document().recipe() == before))
                workspace().undoStack().undo();
            settle();
        }
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        selectUnit("head");
        press(Qt::Key_X, Qt::ControlModifier | Qt::AltModifier);
        QTRY_VERIFY(document().edited() && !document().edited()->extractions.empty());
        settle();
        QVERIFY(!document().comparison());
        workspace().undoStack().undo();
        settle();
    }

    void deleteTakesTheWholeUnit()
    {
        const std::size_t count = document().model()->nodes().size();
        const Recipe before = document().recipe();
        selectUnit("block1.conv2");
        const auto unit = workspace().selection().nodes();
        QCOMPARE(unit.size(), std::size_t(2));
        press(Qt::Key_Delete, {});
        QTRY_COMPARE(document().recipe().edits.size(), before.edits.size() + 2);
        settle();
        QVERIFY(document().model()->nodes().size() <= count - 2);
        for (const NodeId id : unit)
            QVERIFY(!document().model()->tryGet(id));
        QVERIFY(workspace().undoStack().undoText().startsWith("remove "));
        workspace().undoStack().undo(); // one step
        settle();
        QVERIFY(document().recipe() == before);
        QCOMPARE(document().model()->nodes().size(), count);
    }

    void otherEditsAskWhichMember()
    {
        selectUnit("block1.conv2");
        const auto unit = workspace().selection().nodes();
        const auto nameOf
            = [&](std::size_t i) { return toQString(nodeTitle(*document().model(), unit[i])); };
        const QString first = nameOf(0), second = nameOf(1);
        for (const ActionId id :
             {ActionId::SetArguments, ActionId::ReplaceNode, ActionId::InsertAfter,
              ActionId::InsertOnInput, ActionId::RenameNode, ActionId::DuplicateNode,
              ActionId::RewireInput, ActionId::MakeOutput}) {
            press(action(id).shortcut()[0].key(), action(id).shortcut()[0].keyboardModifiers());
            QPointer<EditDialog> dialog = m_window->findChild<EditDialog*>();
            QVERIFY2(dialog, qPrintable(action(id).objectName()));
            auto* which = dialog->findChild<QComboBox*>("editMember");
            QVERIFY(which);
            QCOMPARE(which->count(), 2);
            QCOMPARE(which->currentIndex(), 0);
            QVERIFY2(dialog->windowTitle().endsWith(first), qPrintable(dialog->windowTitle()));
            which->setCurrentIndex(1);
            QVERIFY2(dialog->windowTitle().endsWith(second), qPrintable(dialog->windowTitle()));
            QTest::keyClick(dialog.data(), Qt::Key_Escape);
            QTRY_VERIFY(!dialog);
        }
        // What is chosen is edited.
        ask(ActionId::RenameNode, [](EditDialog& dialog) {
            QCOMPARE(dialog.findChildren<QLineEdit*>("editName").size(), 1);
            type(dialog, "editName", "folded");
        });
        QCOMPARE(toQString(document().model()->get(unit[0]).name), QStringLiteral("folded"));
        workspace().undoStack().undo();
        settle();
        ask(ActionId::RenameNode, [](EditDialog& dialog) {
            dialog.findChild<QComboBox*>("editMember")->setCurrentIndex(1);
            type(dialog, "editName", "folded");
        });
        QCOMPARE(toQString(document().model()->get(unit[1]).name), QStringLiteral("folded"));
        workspace().undoStack().undo();
        settle();
    }

    void anEdgeIsTheEdge()
    {
        const Edge edge = firstEdge();
        const Recipe before = document().recipe();
        for (const ActionId id : {ActionId::InsertAfter, ActionId::InsertOnInput}) {
            workspace().selectEdge(edge);
            ask(id, [&](EditDialog& dialog) {
                QVERIFY2(dialog.windowTitle().startsWith("Insert between"),
                         qPrintable(dialog.windowTitle()));
                type(dialog, "editOperator", "aten.clamp.default");
                type(dialog, "argument_max", "1");
            });
            const Node* added = node("clamp");
            QVERIFY(added);
            QCOMPARE(*added->args.at(0).value.asRef(), edge.value);
            QCOMPARE(*document()
                          .model()
                          ->get(edge.reader.node)
                          .args.at(edge.reader.argument)
                          .value.asRef(),
                     (ValueRef {added->id, 0}));
            workspace().undoStack().undo();
            settle();
            QVERIFY(document().recipe() == before);
        }
        workspace().selectEdge(edge);
        press(Qt::Key_Delete, {});
        QTRY_VERIFY(m_window->messageBar().isVisible());
        QVERIFY(m_window->messageBar().headline().startsWith("The edge"));
        QVERIFY(document().recipe() == before);
        m_window->messageBar().dismiss();
        // Its value becomes an output; its reader is fed.
        action(ActionId::MakeOutput).trigger();
        QTRY_COMPARE(document().model()->output().args.size(), std::size_t(2));
        settle();
        QCOMPARE(*document().model()->output().args.back().value.asRef(), edge.value);
        workspace().undoStack().undo();
        settle();
        workspace().selectEdge(edge);
        action(ActionId::RewireInput).trigger();
        QPointer<EditDialog> dialog = m_window->findChild<EditDialog*>();
        QVERIFY(dialog && !dialog->findChild<QComboBox*>("editMember"));
        QVERIFY(dialog->windowTitle().endsWith(
            toQString(nodeTitle(*document().model(), edge.reader.node))));
        QTest::keyClick(dialog.data(), Qt::Key_Escape);
        QTRY_VERIFY(!dialog);
        action(ActionId::ExtractSelection).trigger();
        QTRY_VERIFY(m_window->messageBar().isVisible());
        QVERIFY(document().recipe() == before);
    }

    void contextMenusHoldTheCommands()
    {
        static constexpr ActionId wanted[]
            = {ActionId::InsertAfter, ActionId::RemoveNode,       ActionId::SetArguments,
               ActionId::MakeOutput,  ActionId::ExtractSelection, ActionId::TraceBefore,
               ActionId::TraceAfter,  ActionId::CopyName};
        const auto check = [this](const char* name) {
            auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
            const bool isThere = menu && menu->objectName() == QLatin1String(name);
            for (const ActionId id : wanted)
                if (isThere && menu->actions().contains(&action(id)) && action(id).isEnabled())
                    ++m_found;
            if (menu)
                menu->close();
        };
        auto& pane = m_window->graphPane();
        pane.expandAll();
        QTRY_VERIFY(pane.isLayoutDone());
        auto& view = pane.view();
        const auto rightClick = [&](const QPointF& at) {
            view.setZoom(1);
            view.centerOn(at);
            const QPoint place = view.mapFromScene(at);
            QContextMenuEvent event(QContextMenuEvent::Mouse, place,
                                    view.viewport()->mapToGlobal(place));
            QApplication::sendEvent(view.viewport(), &event);
        };
        const auto& drawing = *view.graphScene().drawing();
        const int unit = workspace().foldTree()->unitOf(node("relu")->id);
        QTimer::singleShot(50, this, [check] { check("entryMenu"); });
        rightClick(drawing.rectOf(unit).center());
        QCOMPARE(m_found, int(std::size(wanted)));
        const auto& canvas = view.graphScene().canvas();
        std::optional<QPointF> place; // on a line where nothing else is
        for (const DrawnEdge& edge : drawing.edges)
            for (int i = 1; i < 20 && !place; ++i) {
                const QPointF at = drawing.pathOf(edge).pointAtPercent(i / 20.0);
                if (canvas.nodeAt(at) < 0 && canvas.frameHeaderAt(at) < 0
                    && canvas.referencesAt(at) < 0)
                    place = at;
            }
        QVERIFY(place);
        m_found = 0;
        QTimer::singleShot(50, this, [check] { check("edgeMenu"); });
        rightClick(*place);
        QVERIFY(workspace().selection().edge());
        QCOMPARE(m_found, int(std::size(wanted)));
        action(ActionId::CopyName).trigger();
        QVERIFY(QApplication::clipboard()->text().contains(QStringLiteral("►")));
        workspace().selectNode(node("relu")->id);
        press(Qt::Key_C, Qt::ControlModifier);
        QVERIFY(QApplication::clipboard()->text().split('\n').contains("stem.relu"));
    }

private:
    std::unique_ptr<SessionOrder> m_order;
    int m_found = 0;

    /// The unit that holds the first operator of a module.
    void selectUnit(const std::string& module)
    {
        for (const NodePtr& node : document().model()->nodes())
            if (node->isOperator() && node->scope.path.starts_with(module)) {
                workspace().selectNode(node->id);
                return;
            }
        qFatal("no module %s", module.c_str());
    }

    /// From the image to the first operator.
    Edge firstEdge()
    {
        for (const NodePtr& node : document().model()->nodes())
            if (node->kind == NodeKind::Input)
                return {{node->id, 0}, document().model()->users({node->id, 0}).front()};
        qFatal("no input");
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestEditTargets test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_edit_targets.moc"
