// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/npz.h"
#include "tests/ui/edge_window.h"
#include "ui/source/source_view.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/values/heat_map.h"
#include "ui/values/inspection_table.h"
#include "ui/values/sample_view.h"
#include "ui/values/value_inspections.h"
#include "ui/values/values_page.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTableView>
#include <QTextBlock>

#include <cstring>

using namespace qs;

/// The page of values beside `look --json` and the arrays that `look --npz` writes, for the same
/// decisions and data.
class TestInspections : public test::EdgeWindow
{
    Q_OBJECT

private:
    ValuesPage& page() { return *find<ValuesPage>("valuesPage"); }
    ValueInspections& inspections() { return page().inspections(); }
    QTableView& table() { return *find<QTableView>("valuesTable"); }
    QComboBox& list() { return *find<QComboBox>("valuesList"); }
    QSpinBox& sample() { return *find<QSpinBox>("valuesSample"); }
    bool isThere()
    {
        return inspections().inspection() && inspections().values()
            && inspections().note().isEmpty();
    }

    void inspectValue(const char* name)
    {
        workspace().selectNode(node(name));
        QTRY_VERIFY_WITH_TIMEOUT(isThere() && inspections().target()->node == node(name), 60000);
        QCOMPARE(inspections().values()->sample, std::int64_t(sample().value()));
    }

    /// What the command line says of the decisions as they stand, over the calibration's data.
    QJsonObject toldOf(const QStringList& words)
    {
        m_commandLine.quantize(document().recipe(), document().settings());
        QProcess process;
        // A comparison on the calibration's own batches: a file of those alone.
        process.start(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"),
                      QStringList {"look", test::kSamples + "digits.pt2", "--result",
                                   m_folder.path() + "/cli", "--data", m_data, "--device", "cpu",
                                   "--json"}
                          + words);
        if (!process.waitForFinished(120000) || process.exitCode() != 0)
            qFatal("%s", process.readAllStandardError().constData());
        return QJsonDocument::fromJson(process.readAllStandardOutput()).object();
    }

    double cell(int row, const char* title)
    {
        const auto& model = *table().model();
        for (int column = 0; column < model.columnCount(); ++column)
            if (model.headerData(column, Qt::Horizontal).toString() == QLatin1String(title))
                return model.index(row, column).data(Qt::UserRole).toDouble();
        qFatal("no column %s", title);
    }

    void compareRows(const QJsonArray& wanted, const char* key)
    {
        QCOMPARE(table().model()->rowCount(), int(wanted.size()));
        for (int row = 0; row < int(wanted.size()); ++row) {
            const QJsonObject entry = wanted[int(cell(row, key))].toObject();
            QCOMPARE(cell(row, key), entry[QLatin1String(key)].toDouble());
            QVERIFY(sameNumber(cell(row, "dB"), entry["sqnr_db"].toDouble()));
            QVERIFY(sameNumber(cell(row, "max error"), entry["max_abs"].toDouble()));
            double all = 0;
            for (const QJsonValue one : wanted)
                all += one.toObject()["noise"].toDouble();
            QVERIFY(sameNumber(cell(row, "of the noise"), entry["noise"].toDouble() / all));
            if (!entry.contains("mse"))
                continue;
            QVERIFY(sameNumber(cell(row, "MSE"), entry["mse"].toDouble()));
            QVERIFY(sameNumber(cell(row, "min"), entry["min"].toDouble()));
            QVERIFY(sameNumber(cell(row, "max"), entry["max"].toDouble()));
            if (entry.contains("scale"))
                QVERIFY(sameNumber(cell(row, "scale"), entry["scale"].toDouble()));
        }
    }

    QString m_data = test::kSamples + "test.npz";

private Q_SLOTS:
    void initTestCase()
    {
        openAndCompare();
        RunSettings settings = document().settings();
        settings.comparisonData = m_data.toStdString();
        document().setSettings(settings);
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        m_window->showTab("valuesPage");
    }
    void cleanupTestCase() { m_window.reset(); }

    void everyNumberIsTheCommandLines_data()
    {
        QTest::addColumn<QByteArray>("name");
        for (const char* name : {"relu_2", "linear", "flatten"})
            QTest::newRow(name) << QByteArray(name);
    }
    void everyNumberIsTheCommandLines()
    {
        QFETCH(QByteArray, name);
        inspectValue(name.constData());
        sample().setValue(11);
        QTRY_VERIFY_WITH_TIMEOUT(isThere() && inspections().values()->sample == 11, 60000);
        const QString file = m_folder.filePath("values.npz");
        const QJsonObject told
            = toldOf({"--node", QString::fromLatin1(name), "--sample", "11", "--npz", file});
        const ValueInspection& inspection = *inspections().inspection();
        checkTerm(told["error"], inspection.error);
        QVERIFY(sameNumber(*inspection.kl, told["error"].toObject()["kl"].toDouble()));
        // The comparison that the window shows everywhere else.
        const NodeError* error = workspace().facts().error(node(name.constData()));
        QVERIFY(error && sameNumber(*error->cumulative->sqnrDb, *inspection.error->sqnrDb));
        QCOMPARE(error->kl, inspection.kl);
        QCOMPARE(list().count(), 2 + int(told["weights"].toArray().size()));
        list().setCurrentIndex(0);
        compareRows(told["channels"].toArray(), "channel");
        list().setCurrentIndex(1);
        compareRows(told["sample_errors"].toArray(), "sample");
        for (int i = 0; i < int(told["weights"].toArray().size()); ++i) {
            list().setCurrentIndex(2 + i);
            compareRows(told["weights"].toArray()[i].toObject()["channels"].toArray(), "channel");
        }
        list().setCurrentIndex(0);
        const auto arrays = readNpz(file.toStdString());
        QVERIFY(arrays);
        const SampleValues& values = *inspections().values();
        QVERIFY(values.isWhole());
        int compared = 0;
        for (const NpyArray& array : arrays->arrays) {
            if (array.name == "difference")
                continue;
            const auto& shown = array.name == "float" ? values.floating : values.converted;
            QCOMPARE(array.shape, values.shape);
            QCOMPARE(array.bytes.size(), shown.size() * sizeof(float));
            std::vector<float> told(shown.size());
            std::memcpy(told.data(), array.bytes.data(), array.bytes.size());
            QCOMPARE(shown, told);
            ++compared;
        }
        QCOMPARE(compared, 2);
    }

    void mapsShowTheChosenSlice()
    {
        inspectValue("relu_2");
        auto* plane = find<QSpinBox>("valuesPlane");
        QCOMPARE(plane->maximum(), 15);
        plane->setValue(5);
        const SampleValues& values = *inspections().values();
        auto& view = *find<SampleView>("sampleView");
        const std::size_t size = std::size_t(values.rows * values.columns);
        for (std::size_t i = 0; i < size; ++i) {
            QCOMPARE(view.floating().content().values[i], values.floating[5 * size + i]);
            QCOMPARE(view.converted().content().values[i], values.converted[5 * size + i]);
            QCOMPARE(view.difference().content().values[i],
                     values.converted[5 * size + i] - values.floating[5 * size + i]);
        }
        // One scale for both models, one around zero for their difference.
        QCOMPARE(view.floating().content().low, view.converted().content().low);
        QCOMPARE(view.floating().content().high, view.converted().content().high);
        QCOMPARE(view.difference().content().low, -view.difference().content().high);
        // The pointed cell is shown for all three maps, which move together.
        auto& map = view.floating();
        QTest::mouseMove(&map, QPoint(3, 3));
        QTest::mouseMove(&map, map.rect().center());
        QTRY_VERIFY(find<ElidedLabel>("valuesNote")->text().contains("difference"));
        map.setFocus();
        QTest::keyClick(&map, Qt::Key_Plus);
        QVERIFY(map.seen().width() < values.columns);
        QCOMPARE(view.difference().seen(), map.seen());
        QTest::keyClick(&map, Qt::Key_0);
        QCOMPARE(map.seen().width(), double(values.columns));
        const QImage picture = view.difference().grab().toImage();
        QSet<QRgb> colours;
        for (int x = 0; x < picture.width(); ++x)
            colours.insert(picture.pixel(x, picture.height() / 2));
        QVERIFY(colours.size() > 3);
    }

    void aClickGoesToTheWorst()
    {
        inspectValue("relu_2");
        list().setCurrentIndex(1);
        const auto worst = worstSamples(*inspections().inspection(), 1).front();
        QCOMPARE(cell(0, "sample"), double(worst)); // the worst first
        QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                          table().visualRect(table().model()->index(0, 0)).center());
        QCOMPARE(sample().value(), int(worst));
        QTRY_VERIFY(inspections().values() && inspections().values()->sample == worst);
        list().setCurrentIndex(0);
        const double channel = cell(0, "channel");
        QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                          table().visualRect(table().model()->index(0, 0)).center());
        QCOMPARE(find<QSpinBox>("valuesPlane")->value(), int(channel));
    }

    void anOutput()
    {
        auto* of = find<QComboBox>("valuesOf");
        QCOMPARE(of->count(), 2);
        of->setCurrentIndex(1);
        QTRY_VERIFY_WITH_TIMEOUT(isThere(), 60000);
        const QJsonObject told = toldOf({"--output", of->itemText(1).mid(7)});
        checkTerm(told["error"], inspections().inspection()->error);
        checkTerm(told["error"], document().comparison()->outputs.front().cumulative);
        list().setCurrentIndex(1);
        compareRows(told["sample_errors"].toArray(), "sample");
        of->setCurrentIndex(0);
        QTRY_VERIFY_WITH_TIMEOUT(isThere(), 60000);
    }

    void rowsAreCopied()
    {
        inspectValue("linear");
        list().setCurrentIndex(2);
        table().clearSelection();
        find<QPushButton>("valuesCopy")->click();
        const QStringList lines
            = QApplication::clipboard()->text().split("\r\n", Qt::SkipEmptyParts);
        QCOMPARE(int(lines.size()), table().model()->rowCount() + 1);
        QVERIFY(lines[0].startsWith("channel,dB,of the noise,outlier"));
        QCOMPARE(lines[1].split(",")[0].toDouble(), cell(0, "channel"));
        list().setCurrentIndex(0);
    }

    void tableKeepsItsPromises()
    {
        inspectValue("linear");
        InspectionTable model;
        QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.show(inspections().inspection(), InspectionTable::List::Channels);
        model.show(inspections().inspection(), InspectionTable::List::Samples);
        model.show(inspections().inspection(), InspectionTable::List::Weight, 0);
        QVERIFY(model.rowCount() > 0);
        model.show(nullptr, InspectionTable::List::Channels);
        QCOMPARE(model.rowCount(), 0);
    }

    void otherDecisionsAreNeverShownAsCurrent()
    {
        inspectValue("relu_2");
        const ValueInspectionPtr before = inspections().inspection();
        Recipe recipe = document().recipe();
        recipe.mapping.rules.push_back({});
        recipe.mapping.rules.back().kind = RuleKind::ModuleName;
        recipe.mapping.rules.back().key = "stem";
        workspace().change("stem in float", recipe);
        QTRY_VERIFY(inspections().isStale());
        settle();
        QVERIFY(find<ElidedLabel>("valuesNote")->text().contains("older decisions"));
        QVERIFY(!table().isEnabled());
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        QTRY_VERIFY_WITH_TIMEOUT(isThere() && inspections().inspection() != before, 60000);
        const QJsonObject told = toldOf({"--node", "relu_2"});
        checkTerm(told["error"], inspections().inspection()->error);
        startAgain();
        settle();
        QTRY_VERIFY(!document().isStale(Stage::Convert));
        inspectValue("relu_2");
        QCOMPARE(*inspections().inspection()->error->sqnrDb, *before->error->sqnrDb);
    }

    void sourceOfTheNode()
    {
        m_window->showTab("codePanel");
        find<QComboBox>("codeOtherForm")->setCurrentText("beside Python");
        workspace().selectNode(node("relu_2"));
        auto* view = find<SourceView>("sourceView");
        view->setFolder({});
        auto* where = find<ElidedLabel>("sourceWhere");
        auto* text = find<QPlainTextEdit>("sourceText");
        const SourceLocation& source = graph().get(workspace().selection().current()).source;
        QTRY_VERIFY2(where->text().contains("no such file"), qPrintable(where->text()));
        QVERIFY(text->toPlainText().contains(QString::fromStdString(source.code)));
        view->setFolder(QStringLiteral(QS_SOURCE_DIR));
        const QString path = QStringLiteral(QS_SOURCE_DIR "/resources/samples/train_digits.py");
        QTRY_VERIFY2(where->text().startsWith(path), qPrintable(where->text()));
        QVERIFY(text->extraSelections().size() == 1);
        const QString line = text->extraSelections().front().cursor.block().text();
        QVERIFY2(line.contains(QString::fromStdString(source.code)), qPrintable(line));
        view->setFolder({});
        find<QComboBox>("codeOtherForm")->setCurrentIndex(0);
        QTRY_VERIFY(!view->isVisible());
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestInspections test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_inspections.moc"
