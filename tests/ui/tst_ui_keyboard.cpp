// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/panels/module_panel.h"
#include "ui/shell/actions/commands.h"
#include "ui/shell/bars/pipeline_bar.h"
#include "ui/shell/focus_ring.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QSettings>
#include <QStandardPaths>
#include <QTabBar>
#include <QTabWidget>
#include <QTreeView>
#include <QtTest>

using namespace qs;

/// The window without a mouse: where the keyboard is, where it goes, and what keys do there.
class TestKeyboard : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init();
    void cleanup() { m_window.reset(); }
    void panelsInTurn();
    void theKeyboardsPlaceIsSeen();
    void spacePressesWhatHasTheKeyboard();
    void arrowsGoOnFromTheWorstNode();
    void arrowsGoOnAfterAssigning();
    void zoomKeysOfOtherPrograms();
    void savingIsSavingTheProject();
    void menusOfferToAssign();
    void escapeInAListLeavesTheSelection();
    void resultsLeaveThePropertiesFree();

private:
    GraphView& view() { return pane().view(); }
    QWidget* focus() { return QApplication::focusWidget(); }
};

void TestKeyboard::init()
{
    QSettings().clear();
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->resize(1280, 800);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    m_window->openModel(QStringLiteral("/models/net.pt2"));
    QTRY_VERIFY(settled());
    pane().expandAll();
    QTRY_VERIFY(settled());
    workspace().selectNode(node("conv2d"));
    view().setFocus();
}

void TestKeyboard::panelsInTurn()
{
    const auto press = [this](Qt::KeyboardModifiers modifiers = {}) {
        QTest::keyClick(m_window.get(), Qt::Key_F6, modifiers);
        return focus();
    };
    QCOMPARE(press(), m_window->bottomTabs().tabBar());
    QCOMPARE(press(), find<QWidget>("qconfigBox"));
    QCOMPARE(press(), find<QWidget>("stageOpen"));
    QCOMPARE(press(), &m_window->modulePanel().tree());
    QCOMPARE(press(), &view());
    QCOMPARE(press(Qt::ShiftModifier), &m_window->modulePanel().tree());
    QCOMPARE(press(Qt::ShiftModifier), find<QWidget>("stageOpen"));
    m_window->actions()[ActionId::ShowProperties].setChecked(false);
    QCOMPARE(press(Qt::ShiftModifier),
             m_window->bottomTabs().tabBar()); // what is hidden is left out
}

void TestKeyboard::theKeyboardsPlaceIsSeen()
{
    auto* ring = m_window->findChild<FocusRing*>();
    QVERIFY(ring);
    for (QWidget* widget :
         {static_cast<QWidget*>(&view()), find<QWidget>("qconfigBox"), find<QWidget>("stagePlan"),
          find<QWidget>("verdictList"), static_cast<QWidget*>(m_window->bottomTabs().tabBar())}) {
        widget->setFocus(Qt::TabFocusReason);
        QVERIFY2(ring->isVisible(), qPrintable(widget->objectName()));
        QCOMPARE(ring->around(), widget);
        const QRect place(widget->mapTo(m_window.get(), QPoint()), widget->size());
        QVERIFY(place.contains(ring->geometry()));
        // It is drawn: the picture differs along the edge.
        const QImage with = m_window->grab(place).toImage();
        ring->hide();
        QVERIFY2(with != m_window->grab(place).toImage(), qPrintable(widget->objectName()));
    }
}

void TestKeyboard::spacePressesWhatHasTheKeyboard()
{
    QSignalSpy pressed(find<QAbstractButton>("stagePlan"), &QAbstractButton::clicked);
    find<QWidget>("stagePlan")->setFocus();
    QTest::keyClick(focus(), Qt::Key_Space);
    QCOMPARE(pressed.size(), 1);
}

void TestKeyboard::arrowsGoOnFromTheWorstNode()
{
    m_window->commands().runAll();
    QTRY_VERIFY(workspace().document().comparison() && settled());
    m_window->modulePanel().tree().setFocus();
    QTest::keyClick(m_window.get(), Qt::Key_N);
    QTest::keyClick(m_window.get(), Qt::Key_N);
    const auto worst = workspace().selection().nodes();
    QVERIFY(!worst.empty());
    QCOMPARE(focus(), &view());
    QTest::keyClick(focus(), Qt::Key_Up);
    QVERIFY(workspace().selection().nodes() != worst);
}

void TestKeyboard::arrowsGoOnAfterAssigning()
{
    workspace().selectNode(node("linear"));
    m_window->modulePanel().tree().setFocus();
    QTest::keyClick(m_window.get(), Qt::Key_A);
    auto* field = find<QLineEdit>("paletteField");
    QTRY_COMPARE(focus(), field);
    QTest::keyClicks(field, QStringLiteral("float"));
    QTest::keyClick(field, Qt::Key_Return);
    QTRY_VERIFY(settled());
    QCOMPARE(focus(), &view());
    QTest::keyClick(focus(), Qt::Key_Up);
    QVERIFY(!workspace().selection().contains(node("linear")));
}

void TestKeyboard::zoomKeysOfOtherPrograms()
{
    view().setZoom(3);
    QTest::keyClick(m_window.get(), Qt::Key_0, Qt::ControlModifier);
    QVERIFY(view().isShowing(view().graphScene().drawing()->bounds));
    QVERIFY(workspace().undoStack().index() == 0); // it was "keep float" once
    const double zoom = view().zoom();
    QTest::keyClick(m_window.get(), Qt::Key_Plus, Qt::ControlModifier);
    QVERIFY(view().zoom() > zoom);
    QTest::keyClick(m_window.get(), Qt::Key_Minus, Qt::ControlModifier);
    QTest::keyClick(m_window.get(), Qt::Key_Minus, Qt::ControlModifier);
    QVERIFY(view().zoom() < zoom);
}

void TestKeyboard::savingIsSavingTheProject()
{
    QCOMPARE(m_window->actions()[ActionId::SaveProject].shortcut(),
             QKeySequence(Qt::CTRL | Qt::Key_S));
}

void TestKeyboard::menusOfferToAssign()
{
    bool offered = false;
    QTimer::singleShot(0, this, [&offered] {
        if (auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget())) {
            for (auto* action : menu->actions())
                offered |= action->objectName() == QLatin1String("assign");
            menu->close();
        }
    });
    const int entry = workspace().foldTree()->unitOf(node("conv2d"));
    Q_EMIT pane().contextMenuWanted(entry, m_window->mapToGlobal(QPoint(200, 200)));
    QVERIFY(offered);
}

void TestKeyboard::escapeInAListLeavesTheSelection()
{
    auto* box = find<QComboBox>("qconfigBox");
    const auto selected = workspace().selection().nodes();
    QVERIFY(!selected.empty());
    box->setFocus();
    box->showPopup();
    QTRY_VERIFY(box->view()->isVisible());
    QTest::keyClick(box->view(), Qt::Key_Escape);
    QTRY_VERIFY(!box->view()->isVisible());
    QCOMPARE(workspace().selection().nodes(), selected);
    QTest::keyClick(m_window.get(), Qt::Key_Escape);
    QVERIFY(workspace().selection().isEmpty());
}

void TestKeyboard::resultsLeaveThePropertiesFree()
{
    m_window->actions()[ActionId::Find].trigger();
    m_window->pipelineBar().search().setText(QStringLiteral("conv"));
    auto* found = find<QWidget>("searchPanel");
    QTRY_VERIFY(found->isVisible());
    const auto place = [this](QWidget* widget) {
        return QRect(widget->mapTo(m_window.get(), QPoint()), widget->size());
    };
    QVERIFY(!place(found).intersects(place(find<QWidget>("qconfigBox"))));
    QVERIFY(find<QWidget>("searchResults")->width() > 300);
}

QTEST_MAIN(TestKeyboard)
#include "tst_ui_keyboard.moc"
