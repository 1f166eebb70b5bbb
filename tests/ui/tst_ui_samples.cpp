// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/run_record.h"
#include "engine/values/sample_inputs.h"
#include "tests/ui/edge_window.h"
#include "tests/ui/tour/picture_check.h"
#include "ui/frame/actions.h"
#include "ui/samples/confusion_model.h"
#include "ui/samples/sample_picture.h"
#include "ui/samples/sample_pictures.h"
#include "ui/samples/sample_table.h"
#include "ui/session/shown_run.h"
#include "ui/style/theme.h"
#include "ui/style/window_style.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QHeaderView>
#include <QJsonArray>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QTableView>

using namespace qs;

namespace {

/// Few quantization steps, so that classes change.
constexpr auto kCoarse = R"({"format": "quantscope.recipe", "version": 1, "backend": "x86",
"qconfigs": {"few": {
  "activation": {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine",
                 "quant_min": 0, "quant_max": 7},
  "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric",
             "quant_min": -4, "quant_max": 3}}},
"mapping": {"global": "few"}})";

} // namespace

/// The Samples page on the real engine and the digits sample, beside `quantscope quantize`.
class TestSamples : public test::EdgeWindow
{
    Q_OBJECT

    using Table = SampleTable;
    inline static const QString kDigits = test::kSamples + "digits.pt2";

    QTableView& table() { return *find<QTableView>("samplesTable"); }
    QTableView& matrix() { return *find<QTableView>("confusionTable"); }
    QComboBox& rowsBox() { return *find<QComboBox>("confusionRows"); }
    QCheckBox& changedOnly() { return *find<QCheckBox>("samplesChanged"); }
    QPushButton& button(const char* name) { return *find<QPushButton>(name); }
    Table& samples() { return *m_window->findChild<Table*>(); }
    ConfusionModel& counts() { return *m_window->findChild<ConfusionModel*>(); }
    SamplePictures& pictures() { return *m_window->findChild<SamplePictures*>(); }
    EngineService& engine() { return m_engine; }
    int listed() { return table().model()->rowCount(); }
    QVariant number(int row, int column)
    {
        return table().model()->index(row, column).data(Qt::UserRole);
    }
    QJsonObject told()
    {
        return m_commandLine.quantize(document().recipe(),
                                      document().settings())["sample_errors"]
            .toObject();
    }

    void openSample()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 860);
        m_window->show();
        m_window->openModel(kDigits);
        settle();
    }
    void compareCoarsely()
    {
        openSample();
        RunSettings settings = document().settings();
        settings.device = "cpu";
        settings.comparisonData = (test::kSamples + "test.npz").toStdString();
        document().setSettings(settings);
        workspace().change("few steps", *parseRecipe(kCoarse, "few"));
        settle();
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        QVERIFY(document().comparison());
        m_window->actions()[ActionId::ShowSamples].trigger();
        QTRY_VERIFY(table().isVisible() && listed() > 0);
    }
    QPoint centreOf(int row, int column)
    {
        matrix().scrollTo(counts().index(row, column));
        return matrix().visualRect(counts().index(row, column)).center();
    }
    void clickCell(int row, int column)
    {
        const QPoint centre = centreOf(row, column);
        QTest::mouseClick(matrix().viewport(), Qt::LeftButton, {}, centre);
    }
    /// The first cell off the diagonal, or on it, that has samples.
    std::pair<int, int> cell(bool isEqual)
    {
        for (int row = 0; row < counts().rowCount(); ++row)
            for (int column = 0; column < counts().columnCount(); ++column)
                if ((counts().rowClass(row) == counts().columnClass(column)) == isEqual
                    && counts().count(row, column) > 0)
                    return {row, column};
        qFatal("the test wants such a cell");
    }
    /// Rows of the list with these classes, counted in the document.
    static int countIn(const QJsonObject& told, const char* rowKey, std::int64_t row,
                       std::int64_t column)
    {
        int count = 0;
        for (const QJsonValue& value : told["worst"].toArray()) {
            const QJsonObject one = value.toObject();
            count += one[rowKey].toInteger(-1) == row && one["int8_class"].toInteger(-1) == column;
        }
        return count;
    }
    void checkList(const QJsonObject& told)
    {
        const QJsonArray worst = told["worst"].toArray();
        QCOMPARE(listed(), int(worst.size()));
        for (int row = 0; row < listed(); ++row) {
            const QJsonObject one = worst[row].toObject();
            QCOMPARE(number(row, Table::SampleColumn).toDouble(), one["sample"].toDouble());
            QVERIFY(sameNumber(number(row, Table::ErrorColumn).toDouble(),
                               one["sqnr_db"].toDouble()));
            QCOMPARE(number(row, Table::LabelColumn).toDouble(), one["label"].toDouble(-1));
            QCOMPARE(number(row, Table::FloatColumn).toDouble(), one["float_class"].toDouble(-1));
            QCOMPARE(number(row, Table::Int8Column).toDouble(), one["int8_class"].toDouble(-1));
            QCOMPARE(!number(row, Table::ChangeColumn).toString().isEmpty(),
                     one["changed"].toBool());
        }
    }
    void checkMatrix(const QJsonObject& told, const char* key)
    {
        const QJsonObject classes = told["classes"].toObject()[key].toObject();
        std::int64_t all = 0;
        QCOMPARE(counts().columnCount(), told["classes"].toObject()["count"].toInt());
        for (int row = 0; row < counts().rowCount(); ++row)
            for (int column = 0; column < counts().columnCount(); ++column) {
                const auto wanted = classes[QString::number(counts().rowClass(row))]
                                        .toObject()[QString::number(counts().columnClass(column))]
                                        .toInteger(0);
                QCOMPARE(counts().count(row, column), wanted);
                all += wanted;
            }
        QCOMPARE(all, std::int64_t(360));
    }

private Q_SLOTS:
    void initTestCase() { QSettings().clear(); }
    void cleanupTestCase() { m_window.reset(); }

    void emptyStates()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->show();
        QVERIFY2(label("samplesState").startsWith("Open a model"), qPrintable(label("samplesState")));
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
        QVERIFY2(label("samplesNote").contains("the 32 worst of 360 samples at output linear"),
                 qPrintable(label("samplesNote")));
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
        for (const QJsonValue& one : told()["worst"].toArray())
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
            QCOMPARE(label("samplesNote"), QStringLiteral("float %1, int8 %2: %3 of %4 are listed")
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
            QCOMPARE(listed(), countIn(told(), "label", counts().rowClass(row),
                                       counts().columnClass(column)));
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
        QCOMPARE(picture, pictureOf(inputs->front(), picture.width(),
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

    void otherInputsAreLinesAndHeatMaps()
    {
        const PictureColours colours {Qt::white, Qt::blue, false};
        const auto inks = [&](const SampleInput& input) {
            const QImage picture = pictureOf(input, 36, colours);
            std::set<QRgb> found;
            for (int y = 0; y < 36; ++y)
                for (int x = 0; x < 36; ++x)
                    found.insert(picture.pixel(x, y));
            return found;
        };
        const float nan = std::numeric_limits<float>::quiet_NaN();
        const std::set<QRgb> line = inks({0, "x", {4}, {0, 1, nan, 2}});
        QVERIFY(std::any_of(line.begin(), line.end(), [](QRgb pixel) { return qRed(pixel) < 64; }));
        QCOMPARE(inks({0, "x", {}, {1}}).size(), std::size_t(2));
        QCOMPARE(inks({0, "x", {2, 2}, {0, 1, 2, 3}}).size(), std::size_t(4));
        QCOMPARE(inks({0, "x", {0}, {}}).size(), std::size_t(1));
        SampleInput last {0, "x", {4, 4, 3}, std::vector<float>(48)};
        last.values[0] = 1; // red, channels last
        QVERIFY(isImageInput(last) && inks(last).contains(qRgb(255, 0, 0)));
        QVERIFY(!isImageInput({0, "x", {3, 4}, std::vector<float>(12)}));
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

    void manyClassesShowThoseThatDiffer()
    {
        ClassCounts many;
        many.classes = 1000;
        for (std::int64_t i = 0; i < 1000; ++i)
            many.floatInt8[i][i] = 5;
        for (std::int64_t i = 0; i < 60; ++i)
            many.floatInt8[10 * i][10 * i + 1] = i + 1;
        ConfusionModel model;
        model.show(&many, false);
        QCOMPARE(model.rowCount(), int(ConfusionModel::kMostClasses));
        QCOMPARE(model.rowClass(39), std::int64_t(591));
        QCOMPARE(model.note(), QStringLiteral("1830 of 6830 changed · the 40 of 1000 classes with "
                                              "most differences"));
        many.floatInt8.clear();
        many.floatInt8[7][7] = 3;
        many.floatInt8[7][900] = 2;
        model.show(&many, false);
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.describe(0, 1), QStringLiteral("float 7, int8 900: 2 samples"));
        QCOMPARE(model.index(0, 1).data(ConfusionModel::kShareRole).toDouble(), 1.0);
        QVERIFY(!model.index(0, 0).data(ConfusionModel::kShareRole).isValid());
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
