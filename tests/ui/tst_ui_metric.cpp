// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/edge_window.h"
#include "ui/frame/actions.h"
#include "ui/runs/run_library.h"
#include "ui/session/jobs/metric_runner.h"
#include "ui/shell/project_files.h"

#include <QAction>
#include <QComboBox>
#include <QDialog>
#include <QFile>
#include <QLabel>
#include <QProcess>
#include <QPushButton>
#include <QSettings>
#include <QTreeWidget>

#include <algorithm>

using namespace qs;

/// The user's metric in the window, beside `quantscope quantize --eval`.
class TestMetric : public test::EdgeWindow
{
    Q_OBJECT

    MetricRunner& metric() { return workspace().metric(); }
    QDialog* dialog() { return find<QDialog>("metricDialog"); }
    QString stripText() { return find<QLabel>("resultMetric")->text(); }
    /// The share of samples whose highest output is their label.
    QString scoreCommand()
    {
        return metricCommand("score it.py", "(scores.argmax(1) == found['labels']).mean()");
    }
    void openDialog()
    {
        if (!dialog())
            m_window->actions()[ActionId::Metric].trigger();
        QTRY_VERIFY(dialog() && dialog()->isVisible());
    }
    void measure(const QString& command)
    {
        openDialog();
        find<QComboBox>("metricCommand")->setEditText(command);
        QTest::mouseClick(find<QPushButton>("metricMeasure"), Qt::LeftButton);
        QTRY_VERIFY_WITH_TIMEOUT(!metric().isRunning() && settled(), 60000);
    }
    void closeDialog()
    {
        QTest::mouseClick(find<QPushButton>("metricClose"), Qt::LeftButton);
        QTRY_VERIFY(!dialog());
    }
    void keepFirstFloat()
    {
        workspace().assign({RuleKind::ModuleName, {"stem"}}, std::string());
        settle();
    }

private Q_SLOTS:
    void initTestCase()
    {
        QSettings().clear();
        openAndCompare();
        RunSettings settings = document().settings();
        settings.comparisonData = test::kSamples.toStdString() + "test.npz";
        document().setSettings(settings);
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
    }
    void cleanupTestCase() { m_window.reset(); }

    void nothingRunsBeforeItIsAsked()
    {
        QVERIFY(metric().command().isEmpty() && !metric().canMeasure());
        QVERIFY(stripText().isEmpty());
        openDialog();
        QVERIFY(!find<QPushButton>("metricMeasure")->isEnabled());
        find<QComboBox>("metricCommand")->setEditText("false");
        QVERIFY(find<QPushButton>("metricMeasure")->isEnabled());
        closeDialog();
        QVERIFY(metric().command().isEmpty());
    }

    void itIsTheCommandLines()
    {
        const QString command = scoreCommand();
        measure(command);
        QVERIFY2(metric().problem().isEmpty(), qPrintable(metric().problem()));
        const QJsonObject told
            = CommandLine(test::kSamples + "digits.pt2", m_folder.path(), {"--eval", command})
                  .quantize(document().recipe(), document().settings())["evaluation"]
                  .toObject();
        const auto shown = document().evaluationOf(document().keys());
        QVERIFY(shown);
        QCOMPARE(shown->floating, told["float"].toDouble());
        QCOMPARE(shown->int8, told["int8"].toDouble());
        QCOMPARE(shown->floating, *document().comparison()->floatTop1);
        QCOMPARE(shown->int8, *document().comparison()->int8Top1);
        const QString text = metricText(shown->floating) + " ► " + metricText(shown->int8);
        QTRY_COMPARE(stripText(), text);
        QCOMPARE(find<QLabel>("metricResult")->text(),
                 QStringLiteral("Float model %1, int8 model %2")
                     .arg(metricText(shown->floating), metricText(shown->int8)));
        closeDialog();
    }

    void otherDecisionsHaveTheirOwn()
    {
        const QString before = stripText();
        QVERIFY(!before.isEmpty());
        keepFirstFloat();
        QVERIFY(!document().evaluationOf(document().keys()));
        QCOMPARE(stripText(), before); // of the result that is shown, which is out of date
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        QTRY_VERIFY(stripText().isEmpty());
        measure(metric().command());
        QTRY_VERIFY(!stripText().isEmpty());
        closeDialog();
        startAgain();
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        QTRY_VERIFY(stripText().isEmpty()); // one value is kept: that of the other decisions
        measure(metric().command());
        QTRY_COMPARE(stripText(), before);
        closeDialog();
    }

    void exportsAndRunsHoldIt()
    {
        const auto shown = document().evaluationOf(document().keys());
        QVERIFY(shown);
        QVERIFY(workspace().pipeline().exportRequest().evaluation == shown);
        // The runs of these decisions, kept before and measured later, hold it.
        const auto& runs = m_window->runs().runs();
        const auto kept = std::count_if(runs.begin(), runs.end(), [&](const RunEntry& run) {
            return run.headline.evaluation == shown
                && run.label.key == document().keys().comparison;
        });
        QCOMPARE(kept, std::ptrdiff_t(1));
        const auto* list = find<QTreeWidget>("runsList");
        QVERIFY(!list->isColumnHidden(list->columnCount() - 1));
        // A saved project holds the value, and no command.
        const QString project = m_folder.filePath("kept.project");
        QVERIFY(m_window->projects().saveTo(project));
        settle();
        m_window->openModel(project);
        settle();
        QTRY_VERIFY_WITH_TIMEOUT(
            document().comparison() && document().evaluationOf(document().keys()), 60000);
        QVERIFY(document().evaluationOf(document().keys()) == shown);
        QFile file(project);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(!file.readAll().contains("score it"));
    }

    void aFailureIsOneLine()
    {
        measure("false");
        QVERIFY2(metric().problem().contains("your metric 'false' failed"),
                 qPrintable(metric().problem()));
        QVERIFY(!metric().problem().contains('\n'));
        QCOMPARE(find<QLabel>("metricProblem")->text(), metric().problem());
        measure("echo nan #");
        QVERIFY2(metric().problem().contains("no finite number"), qPrintable(metric().problem()));
        QVERIFY(document().evaluationOf(document().keys())); // the earlier one stays
        closeDialog();
    }

    void stopEndsTheCommand()
    {
        openDialog();
        find<QComboBox>("metricCommand")->setEditText("sleep 60 #");
        QTest::mouseClick(find<QPushButton>("metricMeasure"), Qt::LeftButton);
        QTRY_VERIFY(metric().isRunning());
        QCOMPARE(find<QPushButton>("metricClose")->text(), QStringLiteral("Stop"));
        QElapsedTimer clock;
        clock.start();
        closeButtonStops();
        QVERIFY2(clock.elapsed() < 2000, qPrintable(QString::number(clock.elapsed())));
        QVERIFY2(metric().problem().isEmpty(), qPrintable(metric().problem()));
        closeDialog();
    }

    void theCommandIsOfThisMachine()
    {
        openDialog();
        auto* box = find<QComboBox>("metricCommand");
        QVERIFY(box->count() >= 2);
        QVERIFY(box->findText(scoreCommand()) >= 0);
        closeDialog();
    }

private:
    void closeButtonStops()
    {
        QTest::mouseClick(find<QPushButton>("metricClose"), Qt::LeftButton);
        QTRY_VERIFY(!metric().isRunning() && settled());
    }
};

QTEST_MAIN(TestMetric)
#include "tst_ui_metric.moc"
