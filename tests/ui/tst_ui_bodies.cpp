// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/graph/graph_edit.h"
#include "engine/graph/text/graph_parser.h"
#include "tests/support/fake_engine.h"
#include "ui/frame/actions.h"
#include "ui/graph/view/body_pane.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/shell/main_window.h"
#include "ui/style/property_cards.h"

#include <QFile>
#include <QLabel>
#include <QStandardPaths>
#include <QTabBar>
#include <QToolButton>
#include <QtTest>

using namespace qs;

namespace {

/// A branch with a loop in one of its bodies.
std::string branching()
{
    QFile file(QStringLiteral(QS_SOURCE_DIR "/tests/ui/branching.txt"));
    return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

} // namespace

/// Looking into the bodies of nodes. Every test has its own window on the fake engine.
class TestBodies : public QObject
{
    Q_OBJECT

private:
    FakeEngine m_engine;
    std::unique_ptr<MainWindow> m_window;

    Workspace& workspace() { return m_window->workspace(); }
    GraphPane& pane() { return m_window->graphPane(); }
    BodyPane& body() { return m_window->graphPane().body(); }
    template<class T>
    T* find(const QString& name)
    {
        return body().findChild<T*>(name);
    }
    QPoint placeOf(GraphView& view, const FoldTree& tree, NodeId node)
    {
        return view.mapFromScene(view.graphScene().rectOf(tree.unitOf(node)).center());
    }
    void doubleClick(GraphView& view, const char* name)
    {
        const auto& drawing = view.graphScene().drawing();
        const QPoint at = placeOf(view, *drawing->tree, drawing->graph->tryFind(name)->id);
        QTest::mouseDClick(view.viewport(), Qt::LeftButton, {}, at);
    }
    bool shows(const char* name)
    {
        return body().isOpen() && body().isLayoutDone() && body().body()->tryFind(name);
    }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init();
    void cleanup() { m_window.reset(); }
    void aDoubleClickOpensTheFirstBody();
    void enterOpensWhatIsSelected();
    void bodiesInsideBodiesHaveAWayBack();
    void thePropertiesSayWhatTheBodiesAre();
    void theBodyOfAConvertedNodeOpens();
    void anotherModelClosesIt();
};

void TestBodies::init()
{
    auto graph = parseGraph(branching());
    QVERIFY2(graph, graph ? "" : graph.error().line().c_str());
    m_engine.model = std::make_shared<const Graph>(std::move(*graph));
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->resize(1280, 800);
    m_window->show();
    m_window->openModel(QStringLiteral("/models/net.pt2"));
    QTRY_VERIFY(workspace().document().plan() && pane().isLayoutDone()
                && !workspace().pipeline().isBusy());
}

void TestBodies::aDoubleClickOpensTheFirstBody()
{
    QVERIFY(!body().isVisible());
    doubleClick(pane().view(), "relu"); // nothing inside
    QVERIFY(!body().isOpen());
    doubleClick(pane().view(), "cond");
    QTRY_VERIFY(shows("mul"));
    QVERIFY(body().isVisible());
    QCOMPARE(body().geometry(), pane().rect());
    auto* tabs = find<QTabBar>(QStringLiteral("bodyTabs"));
    QCOMPARE(tabs->count(), 2);
    QCOMPARE(tabs->tabText(0), QStringLiteral("if true"));
    QCOMPARE(tabs->tabText(1), QStringLiteral("otherwise"));
    QVERIFY(find<QLabel>(QStringLiteral("bodyCaption"))
                ->text()
                .startsWith(QStringLiteral("1 operator,")));
    tabs->setCurrentIndex(1);
    QTRY_VERIFY(shows("sin"));
    const auto& drawing = body().view().graphScene().drawing();
    const QPoint at = placeOf(body().view(), *drawing->tree, drawing->graph->tryFind("sin")->id);
    QTest::mouseClick(body().view().viewport(), Qt::LeftButton, {}, at);
    QVERIFY(find<QLabel>(QStringLiteral("bodyCaption"))
                ->text()
                .contains(QStringLiteral("y = x.sin()")));
}

void TestBodies::enterOpensWhatIsSelected()
{
    workspace().selectNode(workspace().document().model()->tryFind("cond")->id);
    QTest::keyClick(&pane().view(), Qt::Key_Return);
    QTRY_VERIFY(shows("mul"));
    QTest::keyClick(&body().view(), Qt::Key_Backspace);
    QVERIFY(!body().isOpen() && !body().isVisible());
    m_window->actions()[ActionId::LookInside].trigger();
    QTRY_VERIFY(shows("mul"));
    m_window->actions()[ActionId::LookOutside].trigger();
    QVERIFY(!body().isOpen());
}

void TestBodies::bodiesInsideBodiesHaveAWayBack()
{
    doubleClick(pane().view(), "cond");
    QTRY_VERIFY(shows("mul"));
    find<QTabBar>(QStringLiteral("bodyTabs"))->setCurrentIndex(1);
    QTRY_VERIFY(shows("while_loop"));
    doubleClick(body().view(), "while_loop");
    QTRY_VERIFY(shows("lt"));
    QCOMPARE(find<QTabBar>(QStringLiteral("bodyTabs"))->tabText(0), QStringLiteral("while"));
    auto* crumb = find<QToolButton>(QStringLiteral("bodyCrumb1"));
    QVERIFY(crumb && crumb->text().contains(QStringLiteral("cond · otherwise")));
    QTest::mouseClick(crumb, Qt::LeftButton);
    QTRY_VERIFY(shows("while_loop")); // the same body as before, not the first
    QTest::mouseClick(find<QToolButton>(QStringLiteral("bodyCrumb0")), Qt::LeftButton);
    QTRY_VERIFY(!body().isOpen());
}

void TestBodies::thePropertiesSayWhatTheBodiesAre()
{
    workspace().selectNode(workspace().document().model()->tryFind("cond")->id);
    const auto words = [this] {
        QStringList out;
        for (auto* label : m_window->findChildren<QLabel*>())
            out << label->text();
        for (auto* label : m_window->findChildren<ElidedLabel*>())
            out << label->text();
        return out.join(QLatin1Char('\n'));
    };
    QTRY_VERIFY(words().contains(QStringLiteral("look inside.")));
    for (const char* wanted :
         {"if true", "otherwise", "1 operator: mul", "2 operators: sin, while_loop"})
        QVERIFY2(words().contains(QLatin1String(wanted)), qPrintable(words()));
    QVERIFY(!words().contains(QStringLiteral("subgraph:")));
    const auto& drawing = pane().view().graphScene().drawing();
    const int at = drawing->nodeShowing(
        drawing->tree->unitOf(workspace().document().model()->tryFind("cond")->id));
    QVERIFY(pane().view().graphScene().canvas().style().text(at).detail.contains(
        QStringLiteral("2 bodies")));
}

void TestBodies::theBodyOfAConvertedNodeOpens()
{
    // As an LSTM: one operator in the model, quantized from within once it is prepared.
    const GraphPtr model = workspace().document().model();
    GraphEdit edit(*model);
    Node& relu = edit.change(model->tryFind("relu")->id);
    relu.target = "quantscope.module.default";
    relu.subgraphs = {model->tryFind("cond")->subgraphs[0]};
    auto prepared = std::make_shared<PreparedModel>();
    prepared->model = model;
    prepared->graph = std::make_shared<const Graph>(edit.build());
    prepared->plan = workspace().document().plan();
    auto calibration = std::make_shared<Calibration>();
    calibration->prepared = prepared;
    calibration->observations = std::make_shared<Observations>();
    workspace().document().setCalibration(calibration, workspace().document().keys());
    doubleClick(pane().view(), "relu");
    QTRY_VERIFY(shows("mul"));
    QCOMPARE(find<QTabBar>(QStringLiteral("bodyTabs"))->tabText(0), QStringLiteral("inside"));
}

void TestBodies::anotherModelClosesIt()
{
    doubleClick(pane().view(), "cond");
    QTRY_VERIFY(shows("mul"));
    m_engine.model = fakeModel();
    m_window->openModel(QStringLiteral("/models/other.pt2"));
    QTRY_VERIFY(!body().isOpen());
    QVERIFY(!body().isVisible());
}

QTEST_MAIN(TestBodies)
#include "tst_ui_bodies.moc"
