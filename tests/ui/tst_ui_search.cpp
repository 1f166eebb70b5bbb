// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/models/search_result_model.h"
#include "ui/panels/search_panel.h"
#include "ui/session/search/finder.h"
#include "ui/shell/actions/commands.h"
#include "ui/shell/bars/pipeline_bar.h"
#include "ui/shell/main_window.h"

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QStandardPaths>
#include <QTreeView>
#include <QtTest>

using namespace qs;

/// What a search finds, and the list below its field.
class TestSearch : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

private:
    void openWindow()
    {
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 800);
        m_window->show();
        m_window->openModel(QStringLiteral("/models/net.pt2"));
        QTRY_VERIFY(workspace().document().plan() && m_window->graphPane().isLayoutDone()
                    && !workspace().pipeline().isBusy());
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        QSettings().remove(QStringLiteral("bookmarks"));
    }
    void cleanup() { m_window.reset(); }
    void findsByEveryKey();
    void scansFiftyThousandNodes();
    void modelIsClean();
    void fieldShowsListAndWalksIt();
    void wrongExpressionIsExplained();
    void selectsEveryMatch();
    void bookmarksAreKept();
    void rectangleSelects();
    void rectangleZooms();
};

void TestSearch::findsByEveryKey()
{
    openWindow();
    workspace().assign({RuleKind::Node, {"linear"}}, std::string());
    m_window->commands().runAll();
    QTRY_VERIFY(workspace().document().comparison());
    auto& finder = m_window->finder();
    const auto count = [&finder](const char* expression) {
        finder.setExpression(QString::fromUtf8(expression));
        return finder.error().isEmpty() ? int(finder.results().size()) : -1;
    };
    QCOMPARE(count("op:conv2d"), 3);
    QCOMPARE(count("op:conv2d module:block"), 2);
    QCOMPARE(count("-op:conv2d module:block"), 1);
    QCOMPARE(count("module:blo"), 3);
    QCOMPARE(count("conv1 relu1"), 1);
    QCOMPARE(count("/^conv\\d.*relu$/"), 1); // each name by itself
    QCOMPARE(count("/^CONV[0-9].*RELU$/"), 1); // case does not matter
    QCOMPARE(count("/conv[12]/ -block"), 1);
    QCOMPARE(count("verdict:float"), 1);
    QCOMPARE(count("qconfig:float"), 1);
    QCOMPARE(count("qconfig:x86 -op:conv2d"), 3);
    QCOMPARE(count("dtype:quint8 op:conv2d"), 3);
    QCOMPARE(count("dtype:qint8"), 4);
    QCOMPARE(count("dtype:float32 verdict:float"), 1);
    QCOMPARE(count("sqnr<31"), 3);
    QCOMPARE(count("sqnr<=34 sqnr>=30"), 2);
    QCOMPARE(count("cumulative>30"), 3);
    QCOMPARE(count("nothing-like-this"), 0);
    // Found again when the plan changes: the classifier is no longer float.
    QCOMPARE(count("verdict:float"), 1);
    m_window->actions()[ActionId::Undo].trigger();
    QTRY_COMPARE(int(finder.results().size()), 0);
}

void TestSearch::scansFiftyThousandNodes()
{
    const auto model = fakeChain(50000);
    const auto tree = FoldTree::build(*model, nullptr);
    const NodeSearch index(tree, model);
    const Facts facts;
    // Patterns that make others than RE2 try every way to cut a name: they would not end.
    for (const char* hostile :
         {"/(r+e*)+(l|lu|u)*x$/", "/(.*)*(.*)*(.*)*!/", "/(\\w+_?)+\\d{1,9}!/"}) {
        const auto query = parseSearch(QString::fromLatin1(hostile));
        QVERIFY(query);
        QVERIFY2(index.find(*query, facts).empty(), hostile);
    }
    for (const char* expression : {"r", "relu", "relu_4999", "/_4[0-9]9+$/", "op:relu", "shape:8x*",
                                   "bytes>1k", "arg:input"}) {
        const auto query = parseSearch(QString::fromLatin1(expression));
        QVERIFY(query);
        const auto found = index.find(*query, facts);
        QVERIFY2(!found.empty(), expression);
        QVERIFY(std::is_sorted(found.begin(), found.end(), [&](int a, int b) {
            return tree->entry(a).order < tree->entry(b).order;
        }));
    }
}

void TestSearch::modelIsClean()
{
    openWindow();
    SearchResultModel model(workspace());
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const int unit = workspace().foldTree()->unitOf(node("add"));
    model.setUnits({unit});
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(model.index(0, 0).data().toString(), QStringLiteral("block · add + relu2"));
    QCOMPARE(model.index(0, SearchResultModel::Module).data().toString(), QStringLiteral("block"));
    QCOMPARE(model.index(0, SearchResultModel::QConfigColumn).data().toString(),
             QStringLiteral("x86"));
    QCOMPARE(model.rowOf(unit), 0);
    for (int column = 0; column <= SearchResultModel::ErrorColumn; ++column)
        QVERIFY(!model.headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
    model.setUnits({});
    QCOMPARE(model.rowOf(unit), -1);
}

void TestSearch::fieldShowsListAndWalksIt()
{
    openWindow();
    auto* panel = find<SearchPanel>("searchPanel");
    auto* field = find<QLineEdit>("search");
    auto* list = find<QTreeView>("searchResults");
    m_window->actions()[ActionId::Find].trigger();
    QTRY_VERIFY(panel->isVisible());
    QVERIFY(find<QLabel>("searchNote")->text().contains(QStringLiteral("sqnr<30")));
    QTest::keyClicks(field, QStringLiteral("op:conv2d"));
    QCOMPARE(find<QLabel>("searchCount")->text(), QStringLiteral("3 matches"));
    QCOMPARE(list->model()->rowCount(), 3);
    QVERIFY(workspace().selection().isModule()); // typing alone selects nothing
    QTest::keyClick(field, Qt::Key_Down);
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(workspace().selection().contains(node("conv2d_1")));
    QTest::keyClick(field, Qt::Key_Return);
    QVERIFY(workspace().selection().contains(node("conv2d_2")));
    QCOMPARE(list->currentIndex().row(), 2);
    m_window->actions()[ActionId::FindNext].trigger();
    QVERIFY(workspace().selection().contains(node("conv2d")));
    m_window->actions()[ActionId::FindPrevious].trigger();
    QVERIFY(workspace().selection().contains(node("conv2d_2")));
    const auto row = list->visualRect(list->model()->index(1, 0));
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, row.center());
    QVERIFY(workspace().selection().contains(node("conv2d_1")));
    // Escape leaves the list, and the selection as it is.
    QTest::keyClick(field, Qt::Key_Escape);
    QVERIFY(!panel->isVisible());
    QVERIFY(workspace().selection().contains(node("conv2d_1")));
    QVERIFY(m_window->graphPane().view().hasFocus());
}

void TestSearch::wrongExpressionIsExplained()
{
    openWindow();
    m_window->actions()[ActionId::Find].trigger();
    auto* field = find<QLineEdit>("search");
    QTest::keyClicks(field, QStringLiteral("size<3"));
    auto* note = find<QLabel>("searchNote");
    QVERIFY(note->isVisible());
    QVERIFY2(note->text().contains(QStringLiteral("sqnr<3")), qPrintable(note->text()));
    QVERIFY(!find<QTreeView>("searchResults")->isVisible());
    m_window->actions()[ActionId::FindNext].trigger();
    QVERIFY(m_window->messageBar().isVisible());
    QVERIFY(m_window->messageBar().headline().contains(QStringLiteral("sqnr<3")));
}

void TestSearch::selectsEveryMatch()
{
    openWindow();
    m_window->actions()[ActionId::Find].trigger();
    QTest::keyClicks(find<QLineEdit>("search"), QStringLiteral("op:conv2d"));
    QTest::mouseClick(find<QPushButton>("searchSelectAll"), Qt::LeftButton);
    QCOMPARE(workspace().selectedEntries().size(), std::size_t(3));
    m_window->actions()[ActionId::KeepFloat].trigger();
    QCOMPARE(workspace().undoStack().count(), 1);
    QTRY_COMPARE(workspace().document().plan()->quantizedOps, 5);
}

void TestSearch::bookmarksAreKept()
{
    openWindow();
    QVERIFY(workspace().bookmarks().nodes().empty());
    workspace().selectNode(node("add"));
    m_window->actions()[ActionId::Bookmark].trigger();
    workspace().selectNode(node("linear"));
    m_window->actions()[ActionId::Bookmark].trigger();
    m_window->finder().setExpression(QStringLiteral("is:bookmark"));
    QCOMPARE(m_window->finder().results().size(), std::size_t(2));
    m_window->actions()[ActionId::NextBookmark].trigger();
    QVERIFY(workspace().selection().contains(node("add")));
    m_window->actions()[ActionId::NextBookmark].trigger();
    QVERIFY(workspace().selection().contains(node("linear")));
    // They come back with the model.
    openWindow();
    QVERIFY(workspace().bookmarks().contains(node("linear")));
    workspace().selectNode(node("linear"));
    m_window->actions()[ActionId::Bookmark].trigger();
    QVERIFY(!workspace().bookmarks().contains(node("linear")));
}

void TestSearch::rectangleSelects()
{
    openWindow();
    m_window->graphPane().fit();
    auto& view = m_window->graphPane().view();
    const auto rectOf = [&](const char* name) {
        return view
            .mapFromScene(view.graphScene().rectOf(workspace().foldTree()->unitOf(node(name))))
            .boundingRect();
    };
    const QRect both = rectOf("relu_1").united(rectOf("add"));
    const QPoint end = both.bottomRight() + QPoint(2, 2);
    QTest::mousePress(view.viewport(), Qt::LeftButton, Qt::ShiftModifier, both.topLeft());
    // An offscreen move alone carries no buttons.
    QMouseEvent move(QEvent::MouseMove, end, view.viewport()->mapToGlobal(end), Qt::NoButton,
                     Qt::LeftButton, Qt::ShiftModifier);
    QApplication::sendEvent(view.viewport(), &move);
    QVERIFY(find<QWidget>("graphBand")->isVisible());
    QTest::mouseRelease(view.viewport(), Qt::LeftButton, Qt::ShiftModifier, end);
    QVERIFY(!find<QWidget>("graphBand")->isVisible());
    QVERIFY(workspace().selection().contains(node("relu_1")));
    QVERIFY(workspace().selection().contains(node("conv2d_2")));
    QVERIFY(workspace().selection().contains(node("add")));
    QVERIFY(!workspace().selection().contains(node("linear")));
}

void TestSearch::rectangleZooms()
{
    openWindow();
    m_window->resize(1000, 700);
    m_window->graphPane().fit();
    auto& view = m_window->graphPane().view();
    const auto before = workspace().selection().nodes();
    // All of the graph is in sight, so nothing needs a map.
    QVERIFY(view.isShowing(view.graphScene().drawing()->bounds));
    QVERIFY(!find<QWidget>("minimap")->isVisible());
    const double zoom = view.zoom();
    const QRectF wanted = view.graphScene().rectOf(workspace().foldTree()->unitOf(node("linear")));
    const QRect part = view.mapFromScene(wanted).boundingRect().adjusted(-20, -10, 20, 10);
    QTest::mousePress(view.viewport(), Qt::LeftButton, Qt::ControlModifier, part.topLeft());
    QMouseEvent move(QEvent::MouseMove, part.bottomRight(),
                     view.viewport()->mapToGlobal(part.bottomRight()), Qt::NoButton, Qt::LeftButton,
                     Qt::ControlModifier);
    QApplication::sendEvent(view.viewport(), &move);
    QVERIFY(find<QWidget>("graphBand")->isVisible());
    QTest::mouseRelease(view.viewport(), Qt::LeftButton, Qt::ControlModifier, part.bottomRight());
    QVERIFY(view.zoom() > zoom * 1.2);
    QVERIFY(view.isShowing(wanted));
    QVERIFY(!view.isShowing(view.graphScene().drawing()->bounds));
    QVERIFY(find<QWidget>("minimap")->isVisible());
    QCOMPARE(workspace().selection().nodes(), before);
}

QTEST_MAIN(TestSearch)
#include "tst_ui_search.moc"
