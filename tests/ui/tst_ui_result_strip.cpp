// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/panels/result_strip.h"
#include "ui/session/worst_nodes.h"
#include "ui/shell/actions/commands.h"
#include "ui/style/window_style.h"

#include <QApplication>
#include <QLabel>
#include <QSettings>
#include <QStandardPaths>
#include <QToolButton>
#include <QtTest>

using namespace qs;

/// What a comparison comes down to, in one line, and that "worst" means one thing everywhere.
class TestResultStrip : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init();
    void cleanup() { m_window.reset(); }
    void theWorstOutputCounts();
    void figuresOfAComparison();
    void withoutLabelsTheModelsAgreementCounts();
    void worstNodesAreOneClickAway();
    void changeAgainstTheResultBefore();
    void olderResultsSaySo();
    void narrowWindowsLeaveTheLeastOut();
    void otherColoursKeepTheFigures();
    void worstIsBornHereEverywhere();

private:
    QWidget& strip() { return *find<QWidget>("resultStrip"); }
    QString text(const char* name) { return find<QLabel>(name)->text(); }
    void compare()
    {
        const int before = m_engine.comparisons;
        m_window->commands().runAll();
        QTRY_VERIFY(m_engine.comparisons > before && settled()
                    && !workspace().document().isStale(Stage::Compare));
        QTRY_VERIFY(strip().isVisible());
    }
};

void TestResultStrip::init()
{
    QSettings().clear();
    m_engine.lossStep = 4;
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->resize(1600, 900);
    m_window->show();
    m_window->openModel(QStringLiteral("/models/net.pt2"));
    QTRY_VERIFY(settled());
}

void TestResultStrip::theWorstOutputCounts()
{
    const auto metrics = [](double db) {
        ErrorMetrics out;
        out.sqnrDb = db;
        return out;
    };
    Comparison comparison;
    comparison.outputs = {{"a", metrics(30), metrics(29)},
                          {"b", metrics(25), metrics(12)},
                          {"c", metrics(20), metrics(19)}};
    Plan plan;
    plan.quantizedOps = 3;
    plan.eligibleOps = 5;
    ModuleStatisticsMap sizes;
    sizes[""].floatBytes = 4096;
    sizes[""].plannedBytes = 1100;
    const auto figures = resultFigures(comparison, plan, sizes);
    QCOMPARE(*figures.loweredDb(), 12.0);
    QCOMPARE(*figures.referenceDb(), 25.0); // of the same output
    QCOMPARE(figures.int8Bytes.value(), 1100);
    QCOMPARE(figures.eligibleOps.value(), 5);
    QVERIFY(!resultFigures({}, plan, {}).outputDb());
}

void TestResultStrip::figuresOfAComparison()
{
    QVERIFY(!strip().isVisible());
    compare();
    QCOMPARE(text("resultOutput"), QStringLiteral("14.0 dB (reference 14.0)"));
    QCOMPARE(text("resultTop1"), QStringLiteral("98.0 % ► 97.0 %"));
    QVERIFY(text("resultCoverage").startsWith(QStringLiteral("13 of ")));
    QTRY_VERIFY(text("resultSize").contains(QStringLiteral("kB")));
    const auto sizes
        = moduleStatistics(*workspace().document().model(), workspace().document().plan().get());
    const double share
        = 100.0 * double(sizes.at("").plannedBytes) / double(sizes.at("").floatBytes);
    QVERIFY(text("resultSize").contains(QStringLiteral("(%1 %)").arg(std::lround(share))));
    for (const char* name : {"resultOutput", "resultTop1", "resultSize", "resultCoverage"})
        QVERIFY2(find<QLabel>(name)->isVisible(), name);
    // The first result has none before it.
    QVERIFY(!find<QLabel>("resultChange")->isVisible());
    QVERIFY(!find<QLabel>("resultStale")->isVisible());
}

void TestResultStrip::withoutLabelsTheModelsAgreementCounts()
{
    m_engine.labelled = false;
    compare();
    m_engine.labelled = true;
    QVERIFY(find<QLabel>("resultAgreement")->isVisible());
    QCOMPARE(text("resultAgreement"), QStringLiteral("98.5 %"));
    QVERIFY(!find<QLabel>("resultTop1")->isVisible());
    const QString status = find<QLabel>("statusSummary")->text();
    QVERIFY2(status.contains(QStringLiteral("same top-1 for 98.5 %")), qPrintable(status));
    // On a narrow window before the size of the weights.
    m_window->resize(900, 700);
    QTRY_VERIFY(m_window->width() < 1000);
    QVERIFY(!find<QLabel>("resultSize")->isVisible());
}

void TestResultStrip::worstNodesAreOneClickAway()
{
    compare();
    const auto order = worstFirst(*workspace().document().comparison(), workspace().facts());
    QCOMPARE(order.front(), node("linear"));
    for (int i = 0; i < 3; ++i) {
        auto* button = m_window->findChild<QToolButton*>(QStringLiteral("resultWorst%1").arg(i));
        QVERIFY(button->isVisible());
        QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY(workspace().selection().contains(order[std::size_t(i)]));
    }
}

void TestResultStrip::changeAgainstTheResultBefore()
{
    compare();
    m_engine.lossStep = 3;
    workspace().assign({RuleKind::Node, {"conv2d"}}, std::string());
    QTRY_VERIFY(settled());
    compare();
    QTRY_VERIFY(find<QLabel>("resultChange")->isVisible());
    QVERIFY2(text("resultChange").startsWith(QStringLiteral("+")),
             qPrintable(text("resultChange")));
    QVERIFY2(text("resultChange").contains(QStringLiteral("op")), qPrintable(text("resultChange")));
    QVERIFY(text("resultChange").contains(QStringLiteral("-")));
}

void TestResultStrip::olderResultsSaySo()
{
    compare();
    workspace().assign({RuleKind::Node, {"linear"}}, std::string());
    QTRY_VERIFY(find<QLabel>("resultStale")->isVisible());
    // The figures are those of the comparison, not of the plan that came after it.
    QVERIFY(text("resultCoverage").startsWith(QStringLiteral("13 of ")));
    m_window->actions()[ActionId::Undo].trigger();
    QTRY_VERIFY(!find<QLabel>("resultStale")->isVisible());
}

void TestResultStrip::narrowWindowsLeaveTheLeastOut()
{
    compare();
    m_window->resize(820, 700);
    QTRY_VERIFY(m_window->width() < 900);
    QVERIFY(find<QLabel>("resultOutput")->isVisible());
    QVERIFY(!find<QLabel>("resultSize")->isVisible());
    QVERIFY(strip().toolTip().contains(QStringLiteral("kB")));
}

void TestResultStrip::otherColoursKeepTheFigures()
{
    compare();
    QTRY_VERIFY(!text("resultSize").isEmpty());
    const QString output = text("resultOutput"), size = text("resultSize");
    WindowStyle dark {WindowStyle::Colours::Dark, 100};
    m_window->changeStyle(dark);
    QTRY_COMPARE(styleInUse().colours, WindowStyle::Colours::Dark);
    QTRY_VERIFY(settled());
    QVERIFY(strip().isVisible());
    QCOMPARE(text("resultOutput"), output);
    QTRY_COMPARE(text("resultSize"), size);
    applyStyle(*qApp, {});
}

void TestResultStrip::worstIsBornHereEverywhere()
{
    compare();
    QVERIFY(m_window->actions()[ActionId::Worst].toolTip().contains(QStringLiteral("born")));
    QCOMPARE(pane().colourBy(), ColourBy::BornHere);
    QVERIFY(find<QWidget>("moduleTree"));
    const auto order = worstFirst(*workspace().document().comparison(), workspace().facts());
    workspace().selection().clear();
    m_window->actions()[ActionId::Worst].trigger();
    QVERIFY(workspace().selection().contains(order.front()));
    QVERIFY(pane().view().graphScene().canvas().style().title.contains(QStringLiteral("born")));
}

QTEST_MAIN(TestResultStrip)
#include "tst_ui_result_strip.moc"
