// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/project/project.h"
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/models/style_rule_model.h"
#include "ui/panels/style_panel.h"
#include "ui/session/search/finder.h"
#include "ui/shell/window_state.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QLabel>
#include <QLineEdit>
#include <QSettings>
#include <QStandardPaths>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QtTest>

using namespace qs;

class TestStyles : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init()
    {
        QSettings().clear();
        makeWindow();
    }
    void cleanup() { m_window.reset(); }
    void firstMatchDecides();
    void labelAndDetail();
    void foldedModuleShowsWhatIsCommon();
    void rulesAreKept();
    void projectsCarryRules();
    void legendNamesThem();
    void modelIsSound();
    void listIsEditedByKeyboardAlone();
    void badQueryIsTold();
    void searchBecomesARule();

private:
    void makeWindow()
    {
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1400, 900);
        m_window->show();
        m_window->openModel(QStringLiteral("net.pt2"));
        QTRY_VERIFY(workspace().document().plan() && m_window->graphPane().isLayoutDone()
                    && !workspace().pipeline().isBusy());
    }
    StyleRules& rules() { return workspace().styleRules(); }
    const GraphStyle& style() { return m_window->graphPane().view().graphScene().canvas().style(); }
    int drawn(const char* name)
    {
        const auto& scene = m_window->graphPane().view().graphScene();
        return scene.drawing()->nodeShowing(workspace().foldTree()->unitOf(node(name)));
    }
    QColor bar(const char* name) { return QColor(style().nodes[std::size_t(drawn(name))].bar); }
    NodeText words(const char* name) { return style().text(drawn(name)); }
    QTableView& table() { return *find<QTableView>("styleTable"); }
    void type(const QString& text)
    {
        QTest::keyClicks(QApplication::focusWidget(), text);
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    }
};

void TestStyles::firstMatchDecides()
{
    const QColor before = bar("linear");
    rules().setRules({{QStringLiteral("op:linear"), QStringLiteral("#d55e00"), {}, false},
                      {QStringLiteral("linear"), QStringLiteral("#0072b2"), {}, false},
                      {QStringLiteral("flatten"), QStringLiteral("green"), {}, false}});
    QCOMPARE(bar("linear"), QColor(0xd5, 0x5e, 0x00));
    QCOMPARE(bar("flatten"), QColor(QStringLiteral("green")));
    QCOMPARE(rules().decided(0), 1);
    QCOMPARE(rules().decided(1), 0); // the first took it
    rules().setRules({{QStringLiteral("linear"), QStringLiteral("#0072b2"), {}, false}});
    QCOMPARE(bar("linear"), QColor(0x00, 0x72, 0xb2));
    rules().setRules({});
    QCOMPARE(bar("linear"), before);
}

void TestStyles::labelAndDetail()
{
    QVERIFY(!words("linear").inside.isEmpty());
    const QString detail = words("linear").detail;
    rules().setRules({{QStringLiteral("linear"), {}, QStringLiteral("classifier"), false}});
    QCOMPARE(words("linear").detail, QStringLiteral("classifier · ") + detail);
    rules().setRules({{QStringLiteral("linear"), {}, QStringLiteral("classifier"), true}});
    QCOMPARE(words("linear").detail, QStringLiteral("classifier"));
    QVERIFY(words("linear").inside.isEmpty());
    QVERIFY(!words("flatten").detail.isEmpty());
}

void TestStyles::foldedModuleShowsWhatIsCommon()
{
    m_window->graphPane().foldAll();
    QTRY_VERIFY(m_window->graphPane().isLayoutDone());
    rules().setRules({{QStringLiteral("module:block"), QStringLiteral("#d55e00"), {}, false}});
    QCOMPARE(bar("add"), QColor(0xd5, 0x5e, 0x00)); // the folded block
    rules().setRules({{QStringLiteral("op:add"), QStringLiteral("#d55e00"), {}, false}});
    QVERIFY(bar("add") != QColor(0xd5, 0x5e, 0x00)); // only some of what is inside
}

void TestStyles::rulesAreKept()
{
    const std::vector<StyleRule> made {
        {QStringLiteral("op:conv2d"), QStringLiteral("#56b4e9"), QStringLiteral("conv"), true}};
    rules().setRules(made);
    m_window.reset();
    makeWindow();
    QCOMPARE(rules().rules().size(), std::size_t(1));
    QVERIFY(rules().rules() == made);
    QTRY_COMPARE(bar("conv2d"), QColor(0x56, 0xb4, 0xe9));
}

void TestStyles::projectsCarryRules()
{
    rules().setRules({{QStringLiteral("linear"), QStringLiteral("#0072b2"), {}, false}});
    Project project;
    project.modelPath = "net.pt2";
    project.recipe = defaultRecipe();
    project.windowState
        = windowStateOf(workspace().styleRules(), m_window->graphPane()).toStdString();
    QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("project.json"));
    QVERIFY(writeProject(project, path.toStdString()));
    rules().setRules({});
    m_window->openModel(path);
    QTRY_COMPARE(rules().rules().size(), std::size_t(1));
    QCOMPARE(rules().rules()[0].query, QStringLiteral("linear"));
    QCOMPARE(find<StylePanel>("stylePanel")->model().rowCount(), 1);
}

void TestStyles::legendNamesThem()
{
    rules().setRules(
        {{QStringLiteral("linear"), QStringLiteral("#0072b2"), QStringLiteral("classifier"), false},
         {QStringLiteral("nowhere"), QStringLiteral("red"), {}, false},
         {QStringLiteral("op:add"), {}, QStringLiteral("sum"), false}});
    // What no node shows is not explained.
    QCOMPARE(style().ruleLegend.size(), std::size_t(2));
    QCOMPARE(style().ruleLegend[0].text, QStringLiteral("classifier"));
    QCOMPARE(style().ruleLegend[0].color, QColor(0x00, 0x72, 0xb2));
    QVERIFY(!style().ruleLegend[1].color.isValid());
}

void TestStyles::modelIsSound()
{
    auto& model = find<StylePanel>("stylePanel")->model();
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.add(QStringLiteral("linear"), QStringLiteral("#0072b2"));
    model.add(QStringLiteral("op:add"), QStringLiteral("red"));
    QCOMPARE(model.index(0, StyleRuleModel::Colour).data().toString(), QStringLiteral("blue"));
    QVERIFY(model.setData(model.index(1, StyleRuleModel::Colour), QStringLiteral("vermilion"),
                          Qt::EditRole));
    QCOMPARE(rules().rules()[1].colour, QStringLiteral("#d55e00"));
    QVERIFY(!model.setData(model.index(1, StyleRuleModel::Colour), QStringLiteral("no colour"),
                           Qt::EditRole));
    QVERIFY(
        model.setData(model.index(1, StyleRuleModel::Detail), Qt::Unchecked, Qt::CheckStateRole));
    QVERIFY(rules().rules()[1].hideDetail);
    QCOMPARE(model.move(1, -1), 0);
    QCOMPARE(rules().rules()[0].query, QStringLiteral("op:add"));
    QCOMPARE(model.move(0, -1), 0);
    model.remove(0);
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(model.index(0, StyleRuleModel::Matches).data().toString(), QStringLiteral("1"));
    rules().replace({});
    QCOMPARE(model.rowCount(), 0);
}

void TestStyles::listIsEditedByKeyboardAlone()
{
    m_window->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    QTest::keyClick(m_window.get(), Qt::Key_6, Qt::ControlModifier);
    QTRY_COMPARE(QApplication::focusWidget(), &table());
    QTest::keyClick(&table(), Qt::Key_Insert);
    QCOMPARE(rules().rules().size(), std::size_t(1));
    type(QStringLiteral("op:add")); // into the editor that opened by itself
    QTRY_COMPARE(rules().rules()[0].query, QStringLiteral("op:add"));
    QTest::keyClick(&table(), Qt::Key_Insert);
    type(QStringLiteral("linear"));
    QTRY_COMPARE(rules().rules()[1].query, QStringLiteral("linear"));
    // The colour, by its name.
    table().setCurrentIndex(table().model()->index(1, StyleRuleModel::Colour));
    QTest::keyClick(&table(), Qt::Key_F2);
    QVERIFY(QApplication::focusWidget() != &table());
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_A, Qt::ControlModifier);
    type(QStringLiteral("purple"));
    QTRY_COMPARE(rules().rules()[1].colour, QStringLiteral("#cc79a7"));
    table().setFocus();
    // Space belongs to the list here, not to the graph.
    table().setCurrentIndex(table().model()->index(1, StyleRuleModel::Detail));
    QTest::keyClick(&table(), Qt::Key_Space);
    QVERIFY(rules().rules()[1].hideDetail);
    QTest::keyClick(&table(), Qt::Key_Up, Qt::ControlModifier | Qt::ShiftModifier);
    QCOMPARE(rules().rules()[0].query, QStringLiteral("linear"));
    QCOMPARE(table().currentIndex().row(), 0);
    QTest::keyClick(&table(), Qt::Key_Delete);
    QCOMPARE(rules().rules().size(), std::size_t(1));
    QCOMPARE(rules().rules()[0].query, QStringLiteral("op:add"));
}

void TestStyles::badQueryIsTold()
{
    auto& model = find<StylePanel>("stylePanel")->model();
    const int row = model.add(QStringLiteral("sqnr<loud"), {});
    QVERIFY(!rules().error(std::size_t(row)).isEmpty());
    m_window->actions()[ActionId::ShowStyles].trigger();
    table().setCurrentIndex(model.index(row, 0));
    QCOMPARE(find<QLabel>("styleNote")->text(), rules().error(std::size_t(row)));
    QCOMPARE(model.index(row, StyleRuleModel::Matches).data().toString(),
             QStringLiteral("cannot be read"));
}

void TestStyles::searchBecomesARule()
{
    m_window->finder().setExpression(QStringLiteral("op:relu"));
    m_window->actions()[ActionId::StyleFound].trigger();
    QCOMPARE(rules().rules().size(), std::size_t(1));
    QCOMPARE(rules().rules()[0].query, QStringLiteral("op:relu"));
    QVERIFY(!rules().rules()[0].colour.isEmpty());
    QCOMPARE(m_window->bottomTabs().currentWidget()->objectName(), QStringLiteral("stylePanel"));
}

QTEST_MAIN(TestStyles)
#include "tst_ui_styles.moc"
