// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/style/property_cards.h"
#include "ui/values/heat_map.h"
#include "ui/values/sample_view.h"
#include "ui/values/value_inspections.h"
#include "ui/values/values_page.h"

#include <QComboBox>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTableView>
#include <QtTest>

using namespace qs;

namespace {

SampleValuesPtr valuesOf(std::vector<std::int64_t> shape, int channelAxis,
                         const std::function<float(int)>& floating, float apart)
{
    auto out = std::make_shared<SampleValues>();
    out->shape = std::move(shape);
    out->channelAxis = channelAxis;
    out->planes = out->allPlanes();
    out->rows = out->allRows();
    out->columns = out->allColumns();
    for (int i = 0; i < int(out->planes * out->rows * out->columns); ++i) {
        out->floating.push_back(floating(i));
        out->converted.push_back(floating(i) + apart);
    }
    return out;
}

} // namespace

/// When the page of values asks the engine, and how it draws what it is given.
class TestValuePage : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

private:
    ValueInspections& inspections() { return m_window->findChild<ValuesPage*>()->inspections(); }
    bool isThere(const char* name)
    {
        return inspections().inspection() && inspections().values()
            && inspections().note().isEmpty() && inspections().inspection()->name == name;
    }

    void convert()
    {
        workspace().pipeline().runUpTo(Stage::Compare);
        QTRY_VERIFY(settled() && workspace().document().comparison());
    }

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init()
    {
        m_engine.waitInInspection = false;
        m_engine.inspections = 0;
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1400, 900);
        m_window->show();
        m_window->openModel(QStringLiteral("net.pt2"));
        QTRY_VERIFY(settled());
        RunSettings settings = workspace().document().settings();
        settings.calibrationData = "data.npz";
        workspace().document().setSettings(settings);
        QTRY_VERIFY(settled());
    }
    void cleanup()
    {
        m_engine.waitInInspection = false;
        m_window.reset();
    }

    void nothingIsAskedWhileHidden()
    {
        convert();
        workspace().selectNode(node("linear"));
        QTest::qWait(20);
        QCOMPARE(m_engine.inspections.load(), 0);
        m_window->showTab("valuesPage");
        QTRY_VERIFY(isThere("linear"));
        QCOMPARE(m_engine.inspections.load(), 1);
        QCOMPARE(find<QTableView>("valuesTable")->model()->rowCount(), 4);
        // The worst first.
        QCOMPARE(find<QTableView>("valuesTable")->model()->index(0, 0).data().toString(), "3");
        find<QComboBox>("valuesList")->setCurrentIndex(1);
        QCOMPARE(find<QTableView>("valuesTable")->model()->index(0, 0).data().toString(), "1");
        find<QSpinBox>("valuesSample")->setValue(2);
        QTRY_COMPARE(inspections().values()->sample, 2);
        QCOMPARE(m_engine.inspections.load(), 1); // another sample needs no other inspection
    }

    void sentencesStandInForWhatIsNotThere()
    {
        m_window->showTab("valuesPage");
        auto* note = find<ElidedLabel>("valuesNote");
        workspace().selection().clear();
        QTRY_VERIFY(note->text().contains("Select a node"));
        workspace().selectNode(node("linear"));
        QTRY_VERIFY(note->text().contains("Convert"));
        QCOMPARE(m_engine.inspections.load(), 0);
    }

    void theNewestWishWins()
    {
        convert();
        m_engine.waitInInspection = true;
        m_window->showTab("valuesPage");
        workspace().selectNode(node("linear"));
        QTRY_COMPARE(m_engine.inspections.load(), 1);
        workspace().selectNode(node("flatten"));
        QTRY_COMPARE(m_engine.inspections.load(), 2); // the first one was let go
        m_engine.waitInInspection = false;
        QTRY_VERIFY(isThere("flatten"));
    }

    void aStageGoesFirst()
    {
        convert();
        m_engine.waitInInspection = true;
        m_window->showTab("valuesPage");
        workspace().selectNode(node("linear"));
        QTRY_COMPARE(m_engine.inspections.load(), 1);
        const int before = m_engine.comparisons;
        workspace().pipeline().runUpTo(Stage::Compare);
        QTRY_COMPARE(m_engine.comparisons.load(), before + 1);
        QTRY_COMPARE(m_engine.inspections.load(), 2); // and is asked again when that is done
        m_engine.waitInInspection = false;
        QTRY_VERIFY(isThere("linear"));
    }

    void hidingCancels()
    {
        convert();
        m_engine.waitInInspection = true;
        m_window->showTab("valuesPage");
        workspace().selectNode(node("linear"));
        QTRY_COMPARE(m_engine.inspections.load(), 1);
        m_window->showTab("codePanel");
        QTRY_VERIFY(!inspections().isRunning());
        QVERIFY(!inspections().inspection());
    }

    void imagesOfOneAndThreeChannels()
    {
        SampleView view(nullptr);
        view.resize(600, 200);
        // Red grows along the columns, green along the rows, blue stays.
        const auto colour = [](int i) {
            const int channel = i / 20, row = i % 20 / 5, column = i % 5;
            return channel == 0 ? float(column) : channel == 1 ? float(row) : 4.0F;
        };
        const auto three = valuesOf({3, 4, 5}, 0, colour, 0);
        QVERIFY(SampleView::isImage(*three));
        QVERIFY(!SampleView::isImage(*valuesOf({4, 4, 5}, 0, colour, 0)));
        QVERIFY(!SampleView::isImage(*valuesOf({3, 4, 5}, 2, colour, 0)));
        view.show(three, 0, true, false);
        QCOMPARE(view.floating().content().image.pixel(4, 0), qRgb(255, 0, 255));
        QCOMPARE(view.floating().content().image.pixel(0, 3), qRgb(0, 191, 255));
        QCOMPARE(view.converted().content().image, view.floating().content().image);
        view.show(three, 1, false, false);
        QVERIFY(view.floating().content().image.isNull());
        QCOMPARE(view.floating().content().values[5], 1.0F);
        QSignalSpy pointed(&view, &SampleView::pointed);
        Q_EMIT view.floating().cellPointed({2, 3});
        QCOMPARE(pointed.back().at(0).toString(),
                 QString::fromUtf8("[3, 2]  float 3 · converted 3 · difference 0"));
    }

    void vectorsAreWrapped()
    {
        SampleView view(nullptr);
        const auto vector = valuesOf(
            {100}, 0, [](int i) { return float(i); }, 0.5F);
        view.show(vector, 0, false, false);
        const auto& content = view.difference().content();
        QVERIFY(content.rows > 1 && content.rows * content.columns >= 100);
        QCOMPARE(content.values.size(), std::size_t(100));
        QCOMPARE(content.low, -0.5);
        QCOMPARE(content.high, 0.5);
        QSignalSpy pointed(&view, &SampleView::pointed);
        Q_EMIT view.floating().cellPointed({1, 2});
        QVERIFY(pointed.back().at(0).toString().startsWith(
            QStringLiteral("[%1]").arg(2 * content.columns + 1)));
        Q_EMIT view.floating().cellPointed({content.columns - 1, content.rows - 1});
        QVERIFY(pointed.back().at(0).toString().isEmpty()); // after the last element
        view.show(nullptr, 0, false, false);
        QCOMPARE(view.floating().content().rows, 0);
    }
};

QTEST_MAIN(TestValuePage)
#include "tst_ui_value_page.moc"
