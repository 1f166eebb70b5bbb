// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/panels/cards/interior_card.h"
#include "ui/panels/cards/module_card.h"
#include "ui/plots/histogram_plot.h"
#include "ui/shell/actions/commands.h"
#include "ui/shell/main_window.h"

#include <QHeaderView>
#include <QLabel>
#include <QStandardPaths>
#include <QTreeWidget>
#include <QtTest>

using namespace qs;

namespace {

const std::vector<std::string> kValues
    = {"layers.0.layer_fw.cell.igates", "layers.0.layer_fw.cell.gates",
       "layers.0.layer_bw.cell.igates"};

/// The classifier stands for a recurrent module with values inside.
class RecurrentEngine : public FakeEngine
{
public:
    Result<PlanPtr> plan(const GraphPtr& graph, const Recipe& recipe,
                         const JobContext& job) override
    {
        QS_TRY(PlanPtr plan, FakeEngine::plan(graph, recipe, job));
        auto out = std::make_shared<Plan>(*plan);
        for (const auto& value : kValues) {
            PlannedObserver observer;
            observer.id = ObserverId(std::uint32_t(out->observers.size() + 1));
            observer.spec = out->observers.front().spec;
            observer.weightOwner = graph->tryFind("linear")->id;
            observer.interior = value;
            out->observers.push_back(observer);
        }
        return PlanPtr(out);
    }
    Result<ComparisonPtr> compare(const CompareRequest& request, const JobContext& job) override
    {
        QS_TRY(ComparisonPtr comparison, FakeEngine::compare(request, job));
        auto out = std::make_shared<Comparison>(*comparison);
        ErrorMetrics metrics;
        metrics.sqnrDb = 31.3;
        out->interiors.push_back({model->tryFind("linear")->id, kValues[1], metrics});
        return ComparisonPtr(out);
    }
};

} // namespace

/// Cards of the right panel that only some selections have.
class TestInterior : public test::WindowTest<RecurrentEngine>
{
    Q_OBJECT

private:
    QTreeWidget& tree() { return *find<QTreeWidget>("interiorTree"); }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init()
    {
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 900);
        m_window->show();
        m_window->openModel(QStringLiteral("/models/net.pt2"));
        QTRY_VERIFY(workspace().document().plan() && !workspace().pipeline().isBusy());
        workspace().selectNode(node("linear"));
        QTRY_VERIFY(find<QWidget>("cardInside")->isVisibleTo(m_window.get()));
    }
    void cleanup() { m_window.reset(); }

    void valuesStandUnderTheirCells()
    {
        QCOMPARE(tree().topLevelItemCount(), 2);
        QCOMPARE(tree().topLevelItem(0)->text(0), QStringLiteral("layers.0.layer_fw.cell"));
        QCOMPARE(tree().topLevelItem(0)->childCount(), 2);
        QCOMPARE(tree().topLevelItem(0)->child(1)->text(0), QStringLiteral("gates"));
        QCOMPARE(tree().topLevelItem(1)->childCount(), 1);
        // Nothing was observed yet.
        for (int column = 1; column < 4; ++column)
            QVERIFY(tree().topLevelItem(0)->child(1)->text(column).isEmpty());
        for (int column = 0; column < 4; ++column)
            QVERIFY(!tree().headerItem()->toolTip(column).isEmpty());
    }

    void resultsFillTheColumns()
    {
        m_window->commands().runAll();
        QTRY_VERIFY(workspace().document().comparison());
        workspace().selectNode(node("linear"));
        QTRY_COMPARE(tree().topLevelItem(0)->child(1)->text(3), QStringLiteral("31.3"));
        const auto* gates = tree().topLevelItem(0)->child(1);
        QCOMPARE(gates->text(1).toDouble(), 0.03137);
        QCOMPARE(gates->text(2), QStringLiteral("0"));
        // A value that was not compared has no figure.
        QVERIFY(tree().topLevelItem(0)->child(0)->text(3).isEmpty());
        const QString kept = qEnvironmentVariable("QS_TOUR");
        if (!kept.isEmpty())
            QVERIFY(m_window->grab().save(kept + QStringLiteral("/interior.png")));
    }

    void aValueShowsItsHistogram()
    {
        m_window->commands().runAll();
        QTRY_VERIFY(workspace().document().comparison());
        workspace().selectNode(node("linear"));
        QTRY_VERIFY(tree().topLevelItemCount() == 2 && tree().isVisible());
        auto* gates = tree().topLevelItem(0)->child(1);
        QTest::mouseClick(tree().viewport(), Qt::LeftButton, {},
                          tree().visualItemRect(gates).center());
        QVERIFY(workspace().selection().interior());
        QTRY_VERIFY(
            find<HistogramPlot>("histogramPlot")->caption().contains(QStringLiteral("gates")));
        // By keyboard too.
        QTest::keyClick(&tree(), Qt::Key_Up);
        QTRY_VERIFY(
            find<HistogramPlot>("histogramPlot")->caption().contains(QStringLiteral("igates")));
        // Another selection forgets it, and has no such card.
        workspace().selectNode(node("add"));
        QVERIFY(!workspace().selection().interior());
        QTRY_VERIFY(!find<QWidget>("cardInside")->isVisibleTo(m_window.get()));
    }

    void aModuleTellsWhatItHolds()
    {
        auto* card = find<ModuleCard>("cardContents");
        QVERIFY(!card->isVisibleTo(m_window.get()));
        workspace().selectEntry(workspace().foldTree()->moduleEntry("block"));
        QTRY_VERIFY(card->isVisibleTo(m_window.get()));
        const auto values = [card] {
            QStringList texts;
            for (const auto* value : card->findChildren<ElidedLabel*>())
                texts << value->text();
            return texts;
        };
        // Two weights of 16 x 3 x 3 x 3; 8 x 16 x 16 x 16 outputs of 27 products each, twice; the
        // plan leaves a byte each and 8 bytes a channel.
        QTRY_COMPARE(values(),
                     QStringList({QStringLiteral("864"), QStringLiteral("1.8 M"),
                                  QStringLiteral("3.5 kB"), QStringLiteral("1.1 kB · 32 %")}));
    }
};

QTEST_MAIN(TestInterior)
#include "tst_ui_interior.moc"
