// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/edge_window.h"
#include "tests/ui/tour/picture_check.h"
#include "ui/plots/custom_plot.h"
#include "ui/values/channel_plot.h"
#include "ui/values/value_inspections.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QProcess>

using namespace qs;

/// The boxes of the Channels page, beside `look --json`.
class TestBoxPlot : public test::EdgeWindow
{
    Q_OBJECT

    const QString m_data = test::kSamples + "test.npz";

    ChannelPlot& page() { return *find<ChannelPlot>("channelPlot"); }

    QJsonArray toldChannels(const std::string& name)
    {
        m_commandLine.quantize(document().recipe(), document().settings());
        QProcess process;
        process.start(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"),
                      {"look", test::kSamples + "digits.pt2", "--result", m_folder.path() + "/cli",
                       "--data", m_data, "--device", "cpu", "--json", "--node",
                       QString::fromStdString(name)});
        if (!process.waitForFinished(120000) || process.exitCode() != 0)
            qFatal("%s", process.readAllStandardError().constData());
        return QJsonDocument::fromJson(process.readAllStandardOutput())
            .object()["channels"]
            .toArray();
    }

    static std::vector<std::optional<Quantiles>> manyChannels(int count)
    {
        std::vector<std::optional<Quantiles>> channels;
        for (int c = 0; c < count; ++c) {
            const double middle = 0.01 * (c % 17);
            channels.push_back(
                Quantiles {middle - 2, middle - 0.7, middle, middle + 0.7, middle + 2, 0});
        }
        return channels;
    }

private Q_SLOTS:
    void initTestCase()
    {
        openAndCompare();
        RunSettings settings = document().settings();
        settings.comparisonData = m_data.toStdString();
        document().setSettings(settings);
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
    }
    void cleanupTestCase() { m_window.reset(); }

    void theSwitchIsReachableByKeys()
    {
        m_window->showTab("channelPlot");
        workspace().selectNode(node("conv2d"));
        QTRY_VERIFY(page().channelCount() > 0 && !page().boxes().isShown());
        auto* toBoxes = find<QAbstractButton>("channelsMode1");
        auto* toRanges = find<QAbstractButton>("channelsMode0");
        QVERIFY(toRanges->focusPolicy() & Qt::TabFocus);
        toRanges->setFocus();
        QTest::keyClick(toRanges, Qt::Key_Right);
        QTRY_VERIFY(toBoxes->isChecked());
        QTRY_VERIFY_WITH_TIMEOUT(page().boxes().isShown() && page().channelCount() == 16, 60000);
    }

    void theQuantilesAreThoseOfTheCommandLine()
    {
        const auto& inspection = page().inspections().inspection();
        QVERIFY(inspection);
        const QJsonArray told = toldChannels(inspection->name);
        QCOMPARE(told.size(), qsizetype(inspection->channels.size()));
        for (int c = 0; c < told.size(); ++c) {
            const QJsonObject there = told[c].toObject()["quantiles"].toObject();
            const Quantiles& here = *inspection->channels[std::size_t(c)].quantiles;
            QCOMPARE(there["p1"].toDouble(), here.p1);
            QCOMPARE(there["q1"].toDouble(), here.q1);
            QCOMPARE(there["median"].toDouble(), here.median);
            QCOMPARE(there["q3"].toDouble(), here.q3);
            QCOMPARE(there["p99"].toDouble(), here.p99);
            QCOMPARE(there["error"].toDouble(), here.error);
        }
        QVERIFY(page().boxes().drawsBoxes());
        QVERIFY(page().caption().contains(QStringLiteral("holds")));
        QVERIFY(clippedTexts(page()).isEmpty());
        if (const QString pictures = qEnvironmentVariable("QS_PICTURES"); !pictures.isEmpty())
            m_window->grab().save(pictures + "/boxes.png");
    }

    void nothingIsReadWithoutBoxes()
    {
        page().setMode(ChannelPlot::Ranges);
        workspace().selection().clear();
        workspace().selectNode(node("conv2d_1"));
        QTRY_VERIFY(!page().boxes().isShown() && page().channelCount() > 0);
        settle();
        QVERIFY(!page().inspections().isRunning());
    }

    void manyChannelsAreBandsAndFast()
    {
        QCustomPlot plot;
        plot.resize(900, 260);
        plot.show();
        BoxPlot boxes(plot);
        boxes.show(manyChannels(32), ValueEnds {-3, 3});
        QVERIFY(boxes.drawsBoxes());
        boxes.show(manyChannels(2048), ValueEnds {-3, 3});
        QVERIFY(!boxes.drawsBoxes());
        QElapsedTimer timer;
        timer.start();
        for (int i = 0; i < 20; ++i) {
            boxes.show(manyChannels(2048), ValueEnds {-3, 3});
            plot.replot();
        }
        const double each = double(timer.elapsed()) / 20;
        qInfo("2,048 channels: %.1f ms a drawing", each);
        QVERIFY2(each < 100, qPrintable(QString::number(each)));
        // Boxes again once there is room for them.
        plot.resize(20000, 260);
        plot.replot();
        boxes.fit();
        QVERIFY(boxes.drawsBoxes());
    }
};

QTEST_MAIN(TestBoxPlot)
#include "tst_ui_box_plot.moc"
