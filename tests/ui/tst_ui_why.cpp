// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/result/part_text.h"
#include "tests/support/fake_engine.h"
#include "tests/ui/edge_window.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/style/legend.h"
#include "ui/graph/view/graph_canvas.h"
#include "ui/models/metrics_model.h"
#include "ui/session/decisions/cure_decisions.h"
#include "ui/session/text.h"
#include "ui/style/theme.h"

#include <QApplication>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QToolButton>

using namespace qs;

namespace {

QString partOf(const QJsonObject& owner)
{
    return toQString(partText(owner["part"].toDouble(), owner["part_error"].toDouble()));
}

/// The node of the graph pane that shows the unit.
int drawnIn(GraphPane& pane, NodeId id)
{
    const auto& drawing = *pane.view().graphScene().drawing();
    for (int i = 0; i < int(drawing.tree->size()); ++i)
        for (const NodeId member : drawing.tree->entry(i).members)
            if (member == id)
                return drawing.nodeShowing(i);
    return -1;
}

const GraphStyle& styleOf(GraphPane& pane)
{
    return pane.view().graphScene().canvas().style();
}

} // namespace

/// The causes of the outputs' noise in the window on the real engine, beside `quantize --why` and
/// `why` of the command line.
class TestWhyWindow : public test::EdgeWindow
{
    Q_OBJECT

    CommandLine m_why {test::kSamples + "digits.pt2", m_folder.path(), {"--why"}};

    QToolButton& cause() { return *find<QToolButton>("resultCause"); }
    QAction& action(ActionId id) { return m_window->actions()[id]; }
    QJsonObject told()
    {
        return m_why.quantize(document().recipe(), document().settings())["why"].toObject();
    }
    NodeId nodeOf(const QJsonObject& unit)
    {
        return graph().tryFind(unit["node"].toString().toStdString())->id;
    }
    QString badge(NodeId id) { return styleOf(pane()).text(drawnIn(pane(), id)).badge; }
    const NodeStyle& nodeStyle(NodeId id)
    {
        return styleOf(pane()).nodes[std::size_t(drawnIn(pane(), id))];
    }
    QString cardText()
    {
        QStringList all;
        for (const auto* label : find<QWidget>("cardNoise")->findChildren<QLabel*>())
            all << label->text();
        return all.join(u'|');
    }
    void findCauses()
    {
        action(ActionId::FindCauses).trigger();
        QTRY_VERIFY_WITH_TIMEOUT(document().diagnosis() && !document().isDiagnosisStale()
                                     && settled() && !workspace().causes().isRunning(),
                                 60000);
    }

private Q_SLOTS:
    void initTestCase()
    {
        QSettings().clear();
        openAndCompare();
        QVERIFY(!document().diagnosis());
        QVERIFY(cause().isHidden() || !cause().isVisible());
        QCOMPARE(pane().colourBy(), ColourBy::BornHere);
        findCauses();
    }
    void cleanupTestCase() { m_window.reset(); }

    void numbersAreTheCommandLines()
    {
        const QJsonObject why = told();
        const QJsonArray units = why["units"].toArray();
        QVERIFY(units.size() > 5);
        QCOMPARE(units.size(), qsizetype(document().diagnosis()->units.size()));
        auto* table = find<QTableView>("metricsTable")->model();
        int cells = 0;
        for (const QJsonValue value : units) {
            const QJsonObject unit = value.toObject();
            const NodeId id = nodeOf(unit);
            const auto noise = workspace().facts().noise(std::span(&id, 1));
            QVERIFY2(noise, qPrintable(unit["title"].toString()));
            QVERIFY(sameNumber(noise->part, unit["part"].toDouble()));
            QVERIFY(sameNumber(noise->standardError, unit["part_error"].toDouble()));
            QCOMPARE(badge(id), toQString(partText(unit["part"].toDouble())));
            for (int row = 0; row < table->rowCount(); ++row)
                if (table->index(row, MetricsModel::NodeColumn).data().toString()
                    == unit["title"].toString()) {
                    QCOMPARE(table->index(row, MetricsModel::kNoiseColumn).data().toString(),
                             partOf(unit));
                    ++cells;
                }
        }
        QVERIFY2(cells > 5, qPrintable(QString::number(cells)));
        const QJsonObject first = why["causes"].toArray()[0].toObject();
        const QString sentence = QStringLiteral("%1 of the noise of the outputs: %2, %3")
                                     .arg(toQString(partText(first["share"].toDouble())),
                                          first["title"].toString(), first["words"].toString());
        QVERIFY(cause().isVisible());
        QVERIFY2(cause().toolTip().startsWith(sentence), qPrintable(cause().toolTip()));
        QVERIFY2(cause().text().startsWith(toQString(partText(first["share"].toDouble()))),
                 qPrintable(cause().text()));
    }

    void coloursFollow()
    {
        QCOMPARE(pane().colourBy(), ColourBy::Noise);
        const GraphStyle& style = styleOf(pane());
        QVERIFY(style.scale);
        QCOMPARE(style.title, QStringLiteral("share of the output's noise"));
        const auto& units = document().diagnosis()->units;
        QCOMPARE(style.full.best, 0.0);
        QCOMPARE(style.full.worst, double(float(units.front().noise.part)));
        for (const UnitNoise& unit : units) {
            const NodeStyle& shown = nodeStyle(unit.node);
            QCOMPARE(QColor(shown.fill),
                     rampColour({}, style.range.badness(double(shown.measure))));
            QVERIFY(!shown.faded);
        }
        QCOMPARE(QColor(nodeStyle(units.front().node).fill), rampColour({}, 1));
        const auto [low, high] = scaleEnds(ColourBy::Noise, style.full.best, style.full.worst);
        QCOMPARE(low, QStringLiteral("0.0 %"));
        QCOMPARE(high, QStringLiteral("most ") + badge(units.front().node));
        // A folded module has what is inside of it.
        pane().foldAll();
        QTRY_VERIFY(pane().isLayoutDone());
        double inside = 0, shown = 0;
        for (const UnitNoise& unit : units)
            inside += unit.noise.part;
        for (const NodeStyle& node : styleOf(pane()).nodes)
            if (node.isMeasured())
                shown += double(node.measure);
        QVERIFY2(std::abs(shown - inside) < 1e-5, qPrintable(QString::number(shown)));
        pane().expandAll();
        QTRY_VERIFY(pane().isLayoutDone());
    }

    void aClickSelectsTheFirstCause()
    {
        workspace().selection().clear();
        cause().click();
        const auto& first = document().diagnosis()->causes.front();
        const NodeId at = document().diagnosis()->blame->sites.at(first.site).site.node;
        const auto& nodes = workspace().selection().nodes();
        QVERIFY(std::find(nodes.begin(), nodes.end(), at) != nodes.end());
        const QJsonObject wanted = told()["causes"].toArray()[0].toObject();
        const QString evidence = wanted["evidence"].toArray()[0].toString();
        QTRY_VERIFY2(cardText().contains(evidence), qPrintable(cardText()));
        QVERIFY(cardText().contains(wanted["words"].toString()));
        for (const QJsonValue unit : told()["units"].toArray())
            if (nodeOf(unit.toObject()) == workspace().facts().last(at))
                QVERIFY2(cardText().contains(partOf(unit.toObject())), qPrintable(cardText()));
    }

    void aCureIsOneStepAndWhatWasFoundIsOld()
    {
        cause().click();
        QTRY_VERIFY(find<QPushButton>("takeCure") && find<QPushButton>("takeCure")->isVisible());
        const std::string before = recipeToJson(document().recipe());
        const int steps = workspace().undoStack().index();
        const QString text
            = proposalText(document(), document().diagnosis()->causes.front().proposals.front());
        const NodeId first = document().diagnosis()->units.front().node;
        find<QPushButton>("takeCure")->click();
        QCOMPARE(workspace().undoStack().index(), steps + 1);
        QCOMPARE(document().recipe().cures.size(), std::size_t(1));
        QCOMPARE(workspace().undoStack().undoText(), QStringLiteral("cure: ") + text);
        settle();
        const auto rows = cureRows(document());
        QCOMPARE(rows.front().text, text);
        QCOMPARE(rows.front().problem, QString());
        QVERIFY(document().isDiagnosisStale());
        QTRY_VERIFY(nodeStyle(first).faded);
        QTRY_VERIFY2(cause().toolTip().startsWith("Out of date, recipe changed"),
                     qPrintable(cause().toolTip()));
        QCOMPARE(styleOf(pane()).title, QStringLiteral("share of the output's noise, out of date"));
        QTRY_VERIFY2(cardText().contains("Out of date, recipe changed: find causes again."),
                     qPrintable(cardText()));
        QVERIFY(!find<QPushButton>("takeCure") || !find<QPushButton>("takeCure")->isVisible());
        workspace().undoStack().undo();
        settle();
        QCOMPARE(recipeToJson(document().recipe()), before);
        QTRY_VERIFY(!document().isDiagnosisStale()); // what was found is of these decisions
        QTRY_VERIFY(!nodeStyle(first).faded);
        QTRY_VERIFY(!cause().toolTip().contains("Out of date"));
    }

    void theResultKeepsThem()
    {
        const QString folder = m_folder.filePath("kept");
        QVERIFY(workspace().pipeline().keepResults(folder));
        workspace().pipeline().waitForKept();
        settle();
        QFile file(folder + "/result.json");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonObject section
            = QJsonDocument::fromJson(file.readAll()).object()["why"].toObject();
        for (const char* key : {"units", "sites", "causes", "qconfigs", "measured", "options"})
            QCOMPARE(section[key], told()[key]);
        QProcess process;
        process.start(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"), {"why", folder, "--json"});
        QVERIFY(process.waitForFinished(60000));
        const QJsonObject shown = QJsonDocument::fromJson(process.readAllStandardOutput()).object();
        QCOMPARE(shown["sites"], section["sites"]);
        QCOMPARE(shown["causes"], section["causes"]);
        // Opened again, it is there without a run.
        test::RealEngine engine;
        MainWindow again(engine);
        again.openModel(folder);
        QTRY_VERIFY_WITH_TIMEOUT(again.workspace().document().diagnosis(), 60000);
        const Diagnosis& adopted = *again.workspace().document().diagnosis();
        QVERIFY(!again.workspace().document().isDiagnosisStale());
        QCOMPARE(adopted.units.size(), document().diagnosis()->units.size());
        for (std::size_t i = 0; i < adopted.units.size(); ++i)
            QCOMPARE(adopted.units[i].noise.part, document().diagnosis()->units[i].noise.part);
        QCOMPARE(adopted.causes.size(), document().diagnosis()->causes.size());
        QVERIFY(!again.workspace().causes().isRunning());
    }
};

/// What becomes of the wish for causes, on an engine that waits and refuses at will.
class TestCauseFinder : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

    QToolButton& cause() { return *find<QToolButton>("resultCause"); }
    Document& document() { return workspace().document(); }
    QAction& action(ActionId id) { return m_window->actions()[id]; }
    void keepFcFloat() { workspace().assign({RuleKind::ModuleName, {"fc"}}, std::string()); }
    void compare()
    {
        workspace().pipeline().runUpTo(Stage::Compare);
        QTRY_VERIFY(document().comparison() && settled());
    }

private Q_SLOTS:
    void init()
    {
        QSettings().clear();
        m_engine.waitInBlame = m_engine.isHealthy = false;
        m_engine.blames = 0;
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1366, 768);
        m_window->show();
        m_window->openModel(QStringLiteral("/models/net.pt2"));
        QTRY_VERIFY(settled());
    }
    void cleanup()
    {
        m_engine.waitInBlame = false;
        m_window.reset();
    }

    void withoutACalibrationItSaysSo()
    {
        action(ActionId::FindCauses).trigger();
        QTRY_COMPARE(m_window->messageBar().topic(), QStringLiteral("causes"));
        QVERIFY(m_window->messageBar().detail().startsWith("Not calibrated yet"));
        QVERIFY(settled());
        QCOMPARE(int(m_engine.blames), 0);
    }

    void whatIsOutOfDateIsMadeAnewBefore()
    {
        compare();
        keepFcFloat();
        QTRY_VERIFY(settled() && document().isStale(Stage::Calibrate));
        action(ActionId::FindCauses).trigger();
        QTRY_VERIFY(document().diagnosis() && settled());
        QVERIFY(!document().isStale(Stage::Convert) && !document().isDiagnosisStale());
    }

    void nothingNeedsACure()
    {
        m_engine.isHealthy = true;
        compare();
        action(ActionId::FindCauses).trigger();
        QTRY_VERIFY(document().diagnosis());
        const double db = shareDb(document().diagnosis()->blame->measured);
        QTRY_COMPARE(cause().text(), QStringLiteral("Nothing to cure: ") + shownSqnr(db));
        workspace().selection().clear();
        cause().click();
        QVERIFY(workspace().selection().isEmpty());
    }

    void theUserStopsIt_data()
    {
        QTest::addColumn<bool>("byDecision");
        QTest::newRow("the command Cancel") << false;
        QTest::newRow("another decision") << true;
    }
    void theUserStopsIt()
    {
        QFETCH(bool, byDecision);
        compare();
        m_engine.waitInBlame = true;
        action(ActionId::FindCauses).trigger();
        QTRY_COMPARE(int(m_engine.blames), 1);
        QVERIFY(workspace().causes().isRunning());
        QTRY_VERIFY2(cause().text().startsWith("looking"), qPrintable(cause().text()));
        QVERIFY(cause().isVisible());
        action(ActionId::FindCauses).trigger(); // one at a time
        QElapsedTimer clock;
        clock.start();
        if (byDecision) {
            keepFcFloat();
        } else {
            action(ActionId::Cancel).trigger();
        }
        QTRY_VERIFY_WITH_TIMEOUT(!workspace().causes().isRunning(), 2000);
        QVERIFY2(clock.elapsed() < 1000, qPrintable(QString::number(clock.elapsed())));
        QCOMPARE(int(m_engine.blames), 1);
        QVERIFY(!document().diagnosis());
        QTRY_VERIFY(!cause().isVisible());
        QVERIFY(m_window->messageBar().headline().isEmpty() || !m_window->messageBar().isVisible());
    }

    void aRunThatIsShownHasNoShares()
    {
        compare();
        action(ActionId::FindCauses).trigger();
        QTRY_VERIFY(document().diagnosis() && settled());
        const NodeId at = document().diagnosis()->units.front().node;
        QVERIFY(workspace().facts().noise(std::span(&at, 1)));
        auto run = std::make_shared<ShownRun>();
        run->comparison = document().comparison();
        run->record = std::make_shared<const RunRecord>();
        workspace().showRun(run);
        QVERIFY(!workspace().facts().noise(std::span(&at, 1)) && !workspace().facts().diagnosis());
        workspace().showRun(nullptr);
        QVERIFY(workspace().facts().noise(std::span(&at, 1)));
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestWhyWindow window;
    TestCauseFinder finder;
    return QTest::qExec(&window, argc, argv) + QTest::qExec(&finder, argc, argv);
}
#include "tst_ui_why.moc"
