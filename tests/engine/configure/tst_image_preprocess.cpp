// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/recipe.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

Result<Recipe> withBlock(const QString& block)
{
    return parseRecipe(("{\"format\": \"quantscope.recipe\", \"version\": 1, \"calibration\": "
                        "{\"preprocess\": "
                        + block + "}}")
                           .toStdString(),
                       "r.json");
}

} // namespace

class TestImagePreprocess : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void readsAndWrites_data()
    {
        QTest::addColumn<QString>("block");
        QTest::newRow("empty") << "{}";
        QTest::newRow("preset") << R"({"resize": 256, "crop": 224, "interpolation": "bicubic",
            "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]})";
        QTest::newRow("sides") << R"({"resize": [240, 320], "crop": [224, 300], "mean": 0.5,
            "std": 0.25, "channels": "bgr", "layout": "nhwc"})";
    }
    void readsAndWrites()
    {
        QFETCH(QString, block);
        const auto recipe = withBlock(block);
        QVERIFY2(recipe, recipe ? "" : recipe.error().line().c_str());
        QVERIFY(recipe->calibration.preprocess);
        const std::string text = recipeToJson(*recipe);
        const auto again = parseRecipe(text, "again.json");
        QVERIFY2(again, again ? "" : again.error().line().c_str());
        QVERIFY(*again == *recipe);
        QCOMPARE(recipeToJson(*again), text);
    }

    void takesNumbersForAll()
    {
        const auto recipe = withBlock(R"({"resize": 64, "crop": 56, "std": 0.25})");
        const ImagePreprocess& block = *recipe->calibration.preprocess;
        QCOMPARE(block.resize, (std::vector {64}));
        QCOMPARE(block.crop, (std::vector {56, 56}));
        QCOMPARE(block.std, (std::vector {0.25f}));
        QVERIFY(block.mean.empty());
        QVERIFY(block.filter == ImagePreprocess::Filter::Bilinear);
    }

    void namesTheKey_data()
    {
        QTest::addColumn<QString>("block");
        QTest::addColumn<QString>("wanted");
        QTest::newRow("key") << R"({"size": 3})"
                             << "calibration.preprocess";
        QTest::newRow("no object") << "3"
                                   << "calibration.preprocess";
        QTest::newRow("zero") << R"({"resize": 0})"
                              << "calibration.preprocess.resize";
        QTest::newRow("three") << R"({"crop": [1, 2, 3]})"
                               << "calibration.preprocess.crop";
        QTest::newRow("word") << R"({"interpolation": "linear"})"
                              << "use one of: nearest, bilinear, bicubic, lanczos";
        QTest::newRow("std") << R"({"std": [0.2, 0, 0.2]})"
                             << "calibration.preprocess.std";
        QTest::newRow("two") << R"({"mean": [0.2, 0.1]})"
                             << "calibration.preprocess.mean";
        QTest::newRow("layout") << R"({"layout": "chw"})"
                                << "calibration.preprocess.layout";
    }
    void namesTheKey()
    {
        QFETCH(QString, block);
        QFETCH(QString, wanted);
        const auto recipe = withBlock(block);
        QVERIFY(!recipe);
        const QString line = QString::fromStdString(recipe.error().line());
        QVERIFY2(line.contains(wanted) && line.startsWith("r.json"), qPrintable(line));
    }
};

QTEST_GUILESS_MAIN(TestImagePreprocess)
#include "tst_image_preprocess.moc"
