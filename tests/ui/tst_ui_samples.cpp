// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/run_record.h"
#include "engine/values/sample_inputs.h"
#include "tests/ui/samples_window.h"
#include "tests/ui/tour/picture_check.h"
#include "ui/samples/sample_picture.h"
#include "ui/session/shown_run.h"
#include "ui/style/theme.h"
#include "ui/style/window_style.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QHeaderView>
#include <QSettings>
#include <QSpinBox>

using namespace qs;

/// The Samples page on the real engine and the digits sample, beside `quantscope quantize`.
class TestSamples : public test::SamplesWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QSettings().clear(); }
    void cleanupTestCase() { m_window.reset(); }

    void emptyStates()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->show();
        QVERIFY2(label("samplesState").startsWith("Open a model"),
                 qPrintable(label("samplesState")));
        openSample();
        QTRY_VERIFY2(label("samplesState").contains("choose data"),
                     qPrintable(label("samplesState")));
        QCOMPARE(button("samplesRemedy").text(), QStringLiteral("Calibrate…"));
        workspace().pipeline().runUpTo(Stage::Calibrate);
        settle();
        QTest::keyClick(m_window.get(), Qt::Key_N, Qt::ControlModifier | Qt::AltModifier);
        QTRY_COMPARE(button("samplesRemedy").text(), QStringLiteral("Compare"));
        QTRY_VERIFY(button("samplesRemedy").isVisible());
        QCOMPARE(m_window->focusWidget(), &button("samplesRemedy"));
        QTest::keyClick(m_window->focusWidget(), Qt::Key_Space);
        settle();
        QTRY_VERIFY(table().isVisible() && listed() == 32);
        // A result without samples.
        auto run = std::make_shared<ShownRun>();
        run->comparison = std::make_shared<const Comparison>();
        run->record = std::make_shared<const RunRecord>();
        workspace().showRun(run);
        QTRY_VERIFY2(label("samplesState").startsWith("Nothing to show"),
                     qPrintable(label("samplesState")));
        QVERIFY(!button("samplesRemedy").isVisible());
        workspace().showRun(nullptr);
        QTRY_VERIFY(table().isVisible());
    }

    void everyFigureIsTheCommandLines()
    {
        compareCoarsely();
        const QAbstractItemModelTester list(&samples()), cells(&counts());
        const QJsonObject wanted = told();
        checkList(wanted);
        checkMatrix(wanted, "float_int8");
        QVERIFY2(label("confusionNote").endsWith("of 360 changed"),
                 qPrintable(label("confusionNote")));
        rowsBox().setCurrentIndex(1);
        checkMatrix(wanted, "label_int8");
        rowsBox().setCurrentIndex(0);
        QCOMPARE(label("samplesNote"),
                 QStringLiteral("32 worst of 360 samples, %1 more changed · output linear")
                     .arg(listed() - 32));
        // The counts are those of the top-1 figures.
        const ClassCounts& all = *samples().errors()->classes;
        QCOMPARE(double(equalIn(all.floatInt8)) / 360, document().comparison()->agreement->top1);
        QCOMPARE(double(equalIn(all.labelFloat)) / 360, document().comparison()->floatTop1.value());
        QCOMPARE(double(equalIn(all.labelInt8)) / 360, document().comparison()->int8Top1.value());
    }

    void changedOnlyListsTheChanged()
    {
        const int all = listed();
        QTest::mouseClick(&changedOnly(), Qt::LeftButton, {}, {8, changedOnly().height() / 2});
        QVERIFY(changedOnly().isChecked());
        int changed = 0;
        for (const QJsonValue one : told()["worst"].toArray())
            changed += one.toObject()["changed"].toBool();
        QVERIFY(changed > 5 && changed < all);
        QCOMPARE(listed(), changed);
        for (int row = 0; row < listed(); ++row)
            QCOMPARE(number(row, Table::ChangeColumn).toString(), QStringLiteral("changed"));
        const ClassCounts& classes = *samples().errors()->classes;
        QCOMPARE(label("samplesNote"),
                 QStringLiteral("%1 of %2 changed samples are listed")
                     .arg(changed)
                     .arg(360 - equalIn(classes.floatInt8)));
        changedOnly().setChecked(false);
        QCOMPARE(listed(), all);
    }

    void cellsFilterTheList()
    {
        const int all = listed();
        const QJsonObject wanted = told();
        for (const bool isEqual : {false, true}) {
            const auto [row, column] = cell(isEqual);
            const auto first = counts().rowClass(row), second = counts().columnClass(column);
            clickCell(row, column);
            QCOMPARE(listed(), countIn(wanted, "float_class", first, second));
            QCOMPARE(label("samplesNote"),
                     QStringLiteral("float %1, int8 %2: %3 of %4 are listed")
                         .arg(first)
                         .arg(second)
                         .arg(listed())
                         .arg(counts().count(row, column)));
            QVERIFY(button("samplesAll").isVisible());
            clickCell(row, column); // a second click ends it
            QCOMPARE(listed(), all);
            QVERIFY(!button("samplesAll").isVisible());
        }
    }

    void theKeyboardDoesTheSame()
    {
        const int all = listed();
        rowsBox().setCurrentIndex(1);
        const auto [row, column] = cell(false);
        matrix().setFocus();
        matrix().setCurrentIndex(counts().index(row, column == 0 ? 1 : column - 1));
        QTest::keyClick(&matrix(), column == 0 ? Qt::Key_Left : Qt::Key_Right);
        QCOMPARE(matrix().currentIndex(), counts().index(row, column));
        for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Space}) {
            QTest::keyClick(&matrix(), key);
            QCOMPARE(
                listed(),
                countIn(told(), "label", counts().rowClass(row), counts().columnClass(column)));
            QVERIFY2(label("samplesNote").startsWith("label "), qPrintable(label("samplesNote")));
            QTest::keyClick(&matrix(), Qt::Key_Escape);
            QCOMPARE(listed(), all);
        }
        QTest::keyClick(&matrix(), Qt::Key_Space);
        rowsBox().setCurrentIndex(0); // another matrix: its cells
        QCOMPARE(listed(), all);
        // Tab leads from the list to the matrix.
        table().setFocus();
        QTest::keyClick(&table(), Qt::Key_Tab);
        QTest::keyClick(m_window->focusWidget(), Qt::Key_Tab);
        QCOMPARE(m_window->focusWidget(), &matrix());
    }

    void aSampleIsShownOnTheValuesPage()
    {
        table().setFocus();
        table().setCurrentIndex(table().model()->index(0, Table::SampleColumn));
        QTest::keyClick(&table(), Qt::Key_Down);
        QCOMPARE(find<QSpinBox>("valuesSample")->value(),
                 int(number(1, Table::SampleColumn).toDouble()));
    }

    void picturesAreOfTheInputs()
    {
        const auto index = std::int64_t(number(0, Table::SampleColumn).toDouble());
        QTRY_VERIFY(pictures().ask(index));
        QCOMPARE(pictures().textOf(index), QStringLiteral("image [1, 8, 8]"));
        // Rows out of view are not read.
        const auto last = std::int64_t(number(listed() - 1, Table::SampleColumn).toDouble());
        QVERIFY(pictures().textOf(last).isEmpty());
        table().scrollToBottom();
        QTRY_VERIFY(!pictures().textOf(last).isEmpty());
        const auto inputs = engine().sampleInputs(
            {document().model(), document().recipe(), document().settings(), {index, 0}}, {});
        QVERIFY(inputs && inputs->size() == 2);
        QCOMPARE(inputs->front().sample, index);
        QCOMPARE(inputs->front().values.size(), std::size_t(64));
        const QImage& picture = *pictures().ask(index);
        QCOMPARE(picture,
                 pictureOf(inputs->front(), picture.width(),
                           {theme().canvas, theme().accent, theme().dark}));
        const auto& values = inputs->front().values;
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        const auto at = [&](auto place) {
            const int cell = int(place - values.begin());
            const int side = picture.width() / 8;
            return picture.pixelColor(cell % 8 * side + side / 2, cell / 8 * side + side / 2);
        };
        QCOMPARE(at(low), QColor(Qt::black));
        QCOMPARE(at(high), QColor(Qt::white));
        QVERIFY(!engine().sampleInputs(
            {document().model(), document().recipe(), document().settings(), {360}}, {}));
    }

    void otherDecisionsMarkThem()
    {
        QVERIFY(!button("samplesAgain").isVisible());
        const std::string name = graph().get(node("linear")).name;
        workspace().assign({RuleKind::Node, {name}}, std::string());
        settle();
        QTRY_VERIFY2(label("samplesNote").startsWith("out of date, recipe changed"),
                     qPrintable(label("samplesNote")));
        QVERIFY(button("samplesAgain").isVisible());
        workspace().undoStack().undo();
        settle();
        QTRY_VERIFY(!button("samplesAgain").isVisible());
    }

    void aStoredRunShowsTheSame()
    {
        const QJsonObject wanted = told();
        const auto record = readRun(m_folder.filePath("cli").toStdString());
        QVERIFY(record);
        auto run = std::make_shared<ShownRun>();
        run->letter = "A";
        run->record = std::make_shared<const RunRecord>(*record);
        run->comparison = comparisonOf(*record, graph());
        workspace().showRun(run);
        QTRY_VERIFY2(label("samplesNote").startsWith("Run A"), qPrintable(label("samplesNote")));
        table().scrollToTop();
        checkList(wanted);
        checkMatrix(wanted, "float_int8");
        const auto index = std::int64_t(number(0, Table::SampleColumn).toDouble());
        QTRY_VERIFY(pictures().ask(index));
        workspace().showRun(nullptr);
        // A result folder that another window opens.
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 860);
        m_window->show();
        m_window->openModel(m_folder.filePath("cli"));
        settle();
        QTRY_VERIFY(document().comparison());
        m_window->actions()[ActionId::ShowSamples].trigger();
        QTRY_VERIFY(table().isVisible() && listed() > 0);
        checkList(wanted);
        checkMatrix(wanted, "float_int8");
        QTRY_VERIFY(pictures().ask(index));
    }

    void textsFit_data()
    {
        QTest::addColumn<int>("percent");
        QTest::addColumn<bool>("isDark");
        QTest::addRow("100 light") << 100 << false;
        QTest::addRow("100 dark") << 100 << true;
        QTest::addRow("150 dark") << 150 << true;
        QTest::addRow("200 light") << 200 << false;
    }
    void textsFit()
    {
        QFETCH(int, percent);
        QFETCH(bool, isDark);
        using Colours = WindowStyle::Colours;
        applyStyle(*qApp, {isDark ? Colours::Dark : Colours::Light, percent});
        const auto fits = [&](const char* name) {
            auto& page = *find<QWidget>("samplesPage");
            m_window->resize(1280, 720);
            (void)QTest::qWaitFor([&] { return clippedTexts(page).isEmpty(); }, 1000);
            QVERIFY2(clippedTexts(page).isEmpty(), qPrintable(clippedTexts(page).join(u'\n')));
            const QSize least = m_window->minimumSizeHint();
            QVERIFY(least.width() <= 1280 && least.height() <= 720);
            // With QS_TOUR=FOLDER every picture is written there.
            if (const QString place = qEnvironmentVariable("QS_TOUR"); !place.isEmpty())
                m_window->grab().save(QStringLiteral("%1/samples-%2-%3-%4.png")
                                          .arg(place)
                                          .arg(percent)
                                          .arg(isDark ? "dark" : "light")
                                          .arg(name));
        };
        openSample();
        m_window->actions()[ActionId::ShowSamples].trigger();
        fits("empty");
        compareCoarsely();
        const auto first = std::int64_t(number(0, Table::SampleColumn).toDouble());
        QTRY_VERIFY(pictures().ask(first));
        fits("samples");
        const auto [row, column] = cell(false);
        clickCell(row, column);
        fits("cell");
        applyStyle(*qApp, {});
    }
};

QTEST_MAIN(TestSamples)
#include "tst_ui_samples.moc"
