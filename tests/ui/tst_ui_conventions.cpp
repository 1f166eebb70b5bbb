// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/project/project.h"
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/shell/actions/commands.h"
#include "ui/shell/project_files.h"
#include "ui/shell/short_paths.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QSettings>
#include <QStandardPaths>
#include <QStatusBar>
#include <QTemporaryDir>
#include <QTextEdit>
#include <QTimer>
#include <QtTest>

using namespace qs;

/// What people expect of a viewer without reading: keys, recent files, colours by every error,
/// names for those who listen.
class TestConventions : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init()
    {
        QSettings().clear();
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 800);
        m_window->show();
    }
    void cleanup() { m_window.reset(); }
    void filesOfOneNameAreToldApart();
    void recentFilesComeBack();
    void reloadReadsTheFileAgain();
    void unsavedDecisionsAreAskedAbout();
    void keysOfTheView();
    void savedViewsComeBack();
    void tracesStandOut();
    void everyErrorHasItsColours();
    void everythingHasANameForScreenReaders();

private:
    void open(const char* path)
    {
        m_window->openModel(QString::fromLatin1(path));
        QTRY_VERIFY(settled());
    }
    const GraphStyle& style() { return pane().view().graphScene().canvas().style(); }
    int drawn(const char* name)
    {
        const auto& drawing = *pane().view().graphScene().drawing();
        return drawing.nodeShowing(workspace().foldTree()->unitOf(node(name)));
    }
};

void TestConventions::filesOfOneNameAreToldApart()
{
    QCOMPARE(shortPaths({"/a/net.pt2", "/a/v1/digits.pt2", "/a/v2/digits.pt2"}),
             QStringList({"net.pt2", "v1/digits.pt2", "v2/digits.pt2"}));
    QCOMPARE(shortPaths({"/x/v/n.pt2", "/y/v/n.pt2"}), QStringList({"x/v/n.pt2", "y/v/n.pt2"}));
    QCOMPARE(shortPaths({"n.pt2", "/n.pt2"}).size(), 2);
    QVERIFY(shortPaths({}).isEmpty());
}

void TestConventions::recentFilesComeBack()
{
    QVERIFY(!m_window->actions().recentMenu().isEnabled());
    QVERIFY(!find<QAbstractButton>("recentFile"));
    QSettings().setValue(QStringLiteral("recentFiles"),
                         QStringList({"/models/a/net.pt2", "/models/b/net.pt2"}));
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->show();
    const auto actions = m_window->actions().recentMenu().actions();
    QCOMPARE(actions.size(), 2);
    QVERIFY(actions[0]->text().endsWith(QStringLiteral("a/net.pt2")));
    QCOMPARE(actions[1]->toolTip(), QStringLiteral("/models/b/net.pt2"));
    const auto buttons = m_window->findChildren<QAbstractButton*>(QStringLiteral("recentFile"));
    QCOMPARE(buttons.size(), 2);
    QVERIFY(buttons[1]->isVisible());
    QTest::mouseClick(buttons[1], Qt::LeftButton);
    QTRY_VERIFY(settled());
}

void TestConventions::reloadReadsTheFileAgain()
{
    open("/models/net.pt2");
    const GraphPtr before = workspace().document().model();
    m_engine.model = fakeModel(); // the file has changed
    QTest::keyClick(m_window.get(), Qt::Key_F5);
    QTRY_VERIFY(workspace().document().model() != before && settled());
}

void TestConventions::unsavedDecisionsAreAskedAbout()
{
    QTemporaryDir folder;
    const QString project = folder.filePath("net.json");
    open("/models/net.pt2");
    const auto& document = workspace().document();
    QVERIFY(!document.isModified());
    QVERIFY(m_window->projects().saveTo(project));
    const auto closeWith = [this](QMessageBox::StandardButton answer) {
        bool asked = false;
        QTimer::singleShot(0, this, [&asked, answer] {
            auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget());
            asked = box != nullptr;
            if (box)
                box->button(answer)->click();
        });
        const bool closed = m_window->close();
        QCoreApplication::processEvents();
        return std::pair(asked, closed);
    };
    workspace().assign({RuleKind::Node, {"linear"}}, std::string());
    QTRY_VERIFY(settled());
    QVERIFY(m_window->windowTitle().contains(QLatin1Char('*')));
    QCOMPARE(closeWith(QMessageBox::Cancel), std::pair(true, false));
    QVERIFY(m_window->isVisible());
    // Saved to the project's own file, without another question.
    QCOMPARE(closeWith(QMessageBox::Save), std::pair(true, true));
    QVERIFY(!document.isModified());
    QVERIFY(readProject(project.toStdString())->recipe == document.recipe());
    m_window->show();
    workspace().undoStack().undo();
    QVERIFY(document.isModified());
    workspace().undoStack().redo(); // as it was saved
    QVERIFY(!document.isModified());
    QCOMPARE(closeWith(QMessageBox::Discard), std::pair(false, true));
    // Projects stand among the recent files.
    m_window->show();
    open(qPrintable(project));
    QVERIFY(QSettings().value("recentFiles").toStringList().contains(project));
}

void TestConventions::keysOfTheView()
{
    open("/models/net.pt2");
    auto& view = pane().view();
    view.setFocus();
    view.setZoom(0.5);
    QTest::keyClick(&view, Qt::Key_Backspace, Qt::ShiftModifier);
    QCOMPARE(view.zoom(), 1.0);
    QTest::keyClick(&view, Qt::Key_Down, Qt::ShiftModifier);
    QVERIFY(view.zoom() < 1.0);
    QTest::keyClick(&view, Qt::Key_Up, Qt::ShiftModifier);
    QVERIFY(view.zoom() > 0.99);
    view.setZoom(3);
    QTest::keyClick(&view, Qt::Key_Space);
    QVERIFY(view.isShowing(view.graphScene().drawing()->bounds));
    QTest::keyClick(m_window.get(), Qt::Key_F11);
    QTRY_VERIFY(m_window->isFullScreen());
    QTest::keyClick(m_window.get(), Qt::Key_F11);
    QTRY_VERIFY(!m_window->isFullScreen());
}

void TestConventions::savedViewsComeBack()
{
    open("/models/net.pt2");
    auto& view = pane().view();
    view.setFocus();
    const auto middle = [&view] { return view.mapToScene(view.viewport()->rect().center()); };
    QTest::keyClick(&view, Qt::Key_2);
    QVERIFY(m_window->statusBar()->currentMessage().contains(QStringLiteral("Alt+2")));
    pane().expandAll();
    QTRY_VERIFY(pane().isLayoutDone());
    view.setZoom(1.5);
    view.centerOnEntry(workspace().foldTree()->unitOf(node("linear")));
    const auto expanded = pane().expanded();
    const QPointF where = middle();
    QTest::keyClick(&view, Qt::Key_2, Qt::AltModifier);
    QVERIFY(m_window->statusBar()->currentMessage().contains(QStringLiteral("2 returns")));
    pane().foldAll();
    QTRY_VERIFY(pane().isLayoutDone());
    QVERIFY(pane().expanded() != expanded);
    QTest::keyClick(&view, Qt::Key_2);
    QTRY_VERIFY(pane().isLayoutDone() && pane().expanded() == expanded);
    QCOMPARE(view.zoom(), 1.5);
    QVERIFY((middle() - where).manhattanLength() < 4);
    // Without a layout in between, and gone with the model.
    view.setZoom(0.4);
    QTest::keyClick(&view, Qt::Key_2);
    QCOMPARE(view.zoom(), 1.5);
    open("/models/other.pt2");
    QTest::keyClick(&view, Qt::Key_2);
    QVERIFY(m_window->statusBar()->currentMessage().contains(QStringLiteral("Alt+2")));
}

void TestConventions::tracesStandOut()
{
    open("/models/net.pt2");
    pane().expandAll();
    QTRY_VERIFY(pane().isLayoutDone());
    workspace().selectNode(node("add"));
    const auto behind
        = [this](const char* name) { return bool(style().nodes[std::size_t(drawn(name))].behind); };
    m_window->actions()[ActionId::TraceBefore].trigger();
    QVERIFY(!behind("conv2d") && !behind("add"));
    QVERIFY(behind("linear"));
    m_window->actions()[ActionId::TraceBefore].trigger();
    m_window->actions()[ActionId::TraceAfter].trigger();
    QVERIFY(behind("conv2d"));
    QVERIFY(!behind("linear") && !behind("add"));
}

void TestConventions::everyErrorHasItsColours()
{
    open("/models/net.pt2");
    m_window->commands().runAll();
    QTRY_VERIFY(workspace().document().comparison() && settled());
    pane().expandAll();
    QTRY_VERIFY(pane().isLayoutDone());
    for (const ColourBy by :
         {ColourBy::BornHere, ColourBy::Cumulative, ColourBy::Isolated, ColourBy::Inherited}) {
        pane().setColourBy(by);
        int told = 0;
        for (const char* name : {"conv2d", "conv2d_1", "conv2d_2", "linear"}) {
            const auto sqnr = workspace().facts().worstSqnr(
                workspace().foldTree()->entry(workspace().foldTree()->unitOf(node(name))).members,
                errorTermOf(by));
            const QString badge = style().text(drawn(name)).badge;
            QCOMPARE(badge, sqnr ? measureText(by, *sqnr) : QString());
            told += sqnr.has_value();
        }
        QVERIFY2(told > 0, qPrintable(colourByText(by)));
    }
    for (const ColourBy by : {ColourBy::Op, ColourBy::QConfig, ColourBy::DType}) {
        pane().setColourBy(by);
        QVERIFY2(!style().text(drawn("conv2d")).badge.isEmpty(), qPrintable(colourByText(by)));
    }
}

void TestConventions::everythingHasANameForScreenReaders()
{
    open("/models/net.pt2");
    m_window->commands().runAll();
    QTRY_VERIFY(workspace().document().comparison() && settled());
    workspace().selectNode(node("conv2d"));
    QTest::qWait(50);
    QStringList nameless;
    for (const QWidget* widget : m_window->findChildren<QWidget*>()) {
        const auto* button = qobject_cast<const QAbstractButton*>(widget);
        const bool worked = button || qobject_cast<const QAbstractItemView*>(widget)
            || qobject_cast<const QComboBox*>(widget) || qobject_cast<const QLineEdit*>(widget)
            || qobject_cast<const QTextEdit*>(widget);
        // What Qt makes inside another widget speaks through that one.
        const bool inner = widget->objectName().startsWith(QLatin1String("qt_"))
            || qobject_cast<const QComboBox*>(widget->parentWidget())
            || widget->inherits("QHeaderView") || widget->inherits("QComboBoxListView");
        if (!worked || inner || !widget->isVisible() || widget->focusPolicy() == Qt::NoFocus)
            continue;
        if (widget->accessibleName().isEmpty() && (!button || button->text().isEmpty()))
            nameless << QString::fromLatin1(widget->metaObject()->className()) + QLatin1Char(' ')
                    + widget->objectName() + QStringLiteral(" in ")
                    + widget->parentWidget()->objectName();
    }
    QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join(QLatin1Char('\n'))));
}

QTEST_MAIN(TestConventions)
#include "tst_ui_conventions.moc"
