// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/values/sample_inputs.h"
#include "ui/samples/confusion_model.h"
#include "ui/samples/sample_picture.h"

#include <QtTest>

#include <algorithm>
#include <limits>
#include <set>

using namespace qs;

/// Pictures of inputs and the classes of a confusion matrix, without a window.
class TestSamplePictures : public QObject
{
    Q_OBJECT

private Q_SLOTS:
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
        QCOMPARE(model.note(),
                 QStringLiteral("1830 of 6830 changed · the 40 of 1000 classes with "
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
};

QTEST_MAIN(TestSamplePictures)
#include "tst_ui_sample_pictures.moc"
