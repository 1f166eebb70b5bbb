// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/file_pattern.h"
#include "engine/base/log.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/data/images/image_folder.h"
#include "engine/graph/graph_edit.h"

#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <ATen/ATen.h>

#include <algorithm>

using namespace qs;

namespace {

// A model with one input of images.
Graph model(std::vector<Dim> shape, DType dtype = DType::Float32)
{
    GraphEdit edit;
    Node input;
    input.kind = NodeKind::Input;
    input.name = "x";
    ValueType type;
    type.dtype = dtype;
    type.shapeKnown = true;
    type.shape = std::move(shape);
    input.outputs.push_back({"", type});
    edit.insert(input);
    Node output;
    output.kind = NodeKind::Output;
    output.name = "output";
    edit.insert(output);
    return edit.build();
}

Dim open()
{
    return {4, "s0", "s0"};
}

std::vector<Dim> shapeOf(at::IntArrayRef sizes)
{
    std::vector<Dim> shape {open()};
    for (std::size_t d = 1; d < sizes.size(); ++d)
        shape.push_back(Dim::fixed(sizes[d]));
    return shape;
}

Result<at::Tensor> allInputs(const Dataset& data)
{
    std::vector<at::Tensor> parts;
    for (std::int64_t i = 0; i < data.batchCount(); ++i) {
        QS_TRY(const Batch batch, data.batch(i));
        parts.push_back(batch.inputs.at(0).toTensor());
    }
    return at::cat(parts, 0);
}

std::vector<std::int64_t> allLabels(const Dataset& data)
{
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < data.batchCount(); ++i)
        if (const auto batch = data.batch(i); batch && batch->labels.defined())
            for (std::int64_t k = 0; k < batch->labels.size(0); ++k)
                out.push_back(batch->labels[k].item<std::int64_t>());
    return out;
}

} // namespace

class TestImageDataset : public QObject
{
    Q_OBJECT
private:
    QTemporaryDir m_folder;
    std::vector<std::string> m_notes;

    std::string path(const QString& name) { return m_folder.filePath(name).toStdString(); }

    // An array that Python wrote, read by the code under test's sibling.
    at::Tensor expected(const QString& name)
    {
        const auto sizes = m_shapes.at(name.toStdString());
        const auto data = openDataset(path(name + ".npz"), model(shapeOf(sizes)), {100, 0});
        if (!data)
            qFatal("%s", data.error().line().c_str());
        return (*data)->batch(0)->inputs.at(0).toTensor();
    }

    DatasetOptions optionsOf(const QString& name, int batchSize = 3)
    {
        const auto recipe = readRecipe(path(name + ".json"));
        if (!recipe)
            qFatal("%s", recipe.error().line().c_str());
        DatasetOptions options = wholeDatasetOptions(recipe->calibration);
        options.batchSize = batchSize;
        return options;
    }

    const std::map<std::string, std::vector<std::int64_t>> m_shapes {
        {"preset", {1, 3, 56, 56}},  {"nearest", {1, 3, 40, 48}}, {"bicubic", {1, 3, 40, 48}},
        {"lanczos", {1, 3, 40, 48}}, {"sides", {1, 3, 33, 47}},   {"enlarged", {1, 3, 224, 224}},
        {"padded", {1, 3, 101, 95}}, {"bgr", {1, 3, 32, 32}},     {"nhwc", {1, 32, 30, 3}},
        {"gray", {1, 1, 32, 32}},    {"same", {1, 3, 24, 32}},    {"photos", {1, 3, 48, 48}}};

private Q_SLOTS:
    void initTestCase()
    {
        QProcess python;
        python.start(QS_PYTHON,
                     {QS_SOURCE_DIR "/tests/engine/calibrate/make_images.py", m_folder.path()});
        QVERIFY(python.waitForFinished(120000));
        QVERIFY2(python.exitCode() == 0, python.readAllStandardError().constData());
        setLogSink([this](LogLevel, const std::string& text) { m_notes.push_back(text); });
    }
    void cleanupTestCase() { setLogSink({}); }
    void init() { m_notes.clear(); }

    void equalsTorchvision_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : {"preset", "nearest", "bicubic", "lanczos", "sides", "enlarged",
                                 "padded", "bgr", "nhwc", "gray"})
            QTest::newRow(name) << name;
    }
    void equalsTorchvision()
    {
        QFETCH(QString, name);
        const at::Tensor wanted = expected(name);
        QCOMPARE(wanted.size(0), std::int64_t(8));
        const auto data
            = openDataset(path("flat"), model(shapeOf(wanted.sizes())), optionsOf(name));
        QVERIFY2(data, data ? "" : data.error().line().c_str());
        QCOMPARE((*data)->batchCount(), std::int64_t(3));
        QVERIFY(!(*data)->hasLabels());
        const auto given = allInputs(**data);
        QVERIFY2(given, given ? "" : given.error().line().c_str());
        // Of some sizes Pillow 13 makes the columns first, and rounds between the two passes there:
        // the three pictures of 60 by 60 in "sides". Everything else is equal.
        const at::Tensor difference = (*given - wanted).abs();
        const bool otherOrder = name == QLatin1String("sides");
        QVERIFY(difference.max().item<double>() < (otherOrder ? 1.01 / 255 : 1e-6));
        QVERIFY(m_notes.empty());
    }

    // Decoders of JPEG differ by a few steps, whoever wrote them.
    void photosAreAlike()
    {
        const at::Tensor wanted = expected("photos");
        const auto data
            = openDataset(path("photos"), model(shapeOf(wanted.sizes())), optionsOf("photos"));
        QVERIFY2(data, data ? "" : data.error().line().c_str());
        const at::Tensor difference = (*allInputs(**data) - wanted).abs() * 255;
        QVERIFY(difference.max().item<double>() < 4.5);
        QVERIFY(difference.mean().item<double>() < 0.25);
    }

    void needsNoBlockWhereAllHaveTheSize()
    {
        const at::Tensor wanted = expected("same");
        const auto data = openDataset(path("same"), model(shapeOf(wanted.sizes())), {2, 0});
        QVERIFY2(data, data ? "" : data.error().line().c_str());
        QVERIFY(allInputs(**data)->equal(wanted));
        QCOMPARE(m_notes.size(), std::size_t(1));
        QVERIFY(m_notes[0].find("no preprocess block") != std::string::npos);
    }

    void feedsOtherTypes()
    {
        const at::Tensor wanted = expected("same");
        const auto shape = shapeOf(wanted.sizes());
        const auto bytes = openDataset(path("same"), model(shape, DType::UInt8), {2, 0});
        QVERIFY2(bytes, bytes ? "" : bytes.error().line().c_str());
        QVERIFY(allInputs(**bytes)->equal((wanted * 255).round().to(at::kByte)));
        const auto half = openDataset(path("same"), model(shape, DType::Float16), {2, 0});
        QVERIFY2(half, half ? "" : half.error().line().c_str());
        QVERIFY(allInputs(**half)->equal(wanted.to(at::kHalf)));
    }

    void foldersAreClasses()
    {
        const auto shape = std::vector {open(), Dim::fixed(3), Dim::fixed(16), Dim::fixed(16)};
        const auto data = openDataset(path("classes"), model(shape), {4, 0});
        QVERIFY2(data, data ? "" : data.error().line().c_str());
        QVERIFY((*data)->hasLabels());
        const std::vector<std::int64_t> wanted {0, 0, 0, 0, 0, 0, 1, 1, 1,
                                                1, 1, 1, 2, 2, 2, 2, 2, 2};
        QCOMPARE(allLabels(**data), wanted);
        const auto folder = listImages(path("classes"));
        QVERIFY(folder);
        QVERIFY(folder->files[0].path.find("/a10/") != std::string::npos);
        QVERIFY(folder->files[6].path.find("/a9/") != std::string::npos);
        // A part is spread over the classes.
        m_notes.clear();
        const auto part = openDataset(path("classes"), model(shape), {3, 2});
        QVERIFY(part);
        QCOMPARE(allLabels(**part), (std::vector<std::int64_t> {0, 0, 1, 1, 2, 2}));
        QVERIFY(m_notes[0].find("of 18 images 6 are used") != std::string::npos);
    }

    void labelsStandInAFile_data()
    {
        QTest::addColumn<QString>("name");
        for (const char* name : {"labels_csv", "labels_txt", "labels_words"})
            QTest::newRow(name) << name;
    }
    void labelsStandInAFile()
    {
        QFETCH(QString, name);
        const auto shape = std::vector {open(), Dim::fixed(3), Dim::fixed(24), Dim::fixed(32)};
        const auto data = openDataset(path(name), model(shape), {2, 0});
        QVERIFY2(data, data ? "" : data.error().line().c_str());
        QCOMPARE(allLabels(**data), (std::vector<std::int64_t> {3, 1, 4, 1, 5}));
    }

    void sortsNumbersAsNumbers()
    {
        std::vector<std::string> names {"b1", "a10", "a9", "a09b", "a010", "a", "a1b2", "a1b10"};
        std::sort(names.begin(), names.end(), naturallyBefore);
        QCOMPARE(
            names,
            (std::vector<std::string> {"a", "a1b2", "a1b10", "a9", "a09b", "a010", "a10", "b1"}));
    }

    void fixedBatchDropsTheTail()
    {
        const auto shape
            = std::vector {Dim::fixed(2), Dim::fixed(3), Dim::fixed(24), Dim::fixed(32)};
        const auto data = openDataset(path("same"), model(shape), {8, 0});
        QVERIFY2(data, data ? "" : data.error().line().c_str());
        QCOMPARE((*data)->batchCount(), std::int64_t(2));
        QCOMPARE((*data)->batch(1)->samples, std::int64_t(2));
        QVERIFY(m_notes[0].find("last 1 of 5 images are not used") != std::string::npos);
        const auto few = openDataset(
            path("same"), model({Dim::fixed(6), Dim::fixed(3), Dim::fixed(24), Dim::fixed(32)}),
            {8, 0});
        QVERIFY(!few);
        QVERIFY(few.error().message.find("holds 5 images") != std::string::npos);
    }

    void refuses_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("recipe");
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("wanted");
        QTest::newRow("other sizes")
            << "flat"
            << ""
            << "flat/img1.png"
            << "is 60 x 80, the model takes 24 x 32, and the recipe has no "
               "preprocess block; say in the recipe how the model was "
               "trained, such as \"calibration\": {\"preprocess\": "
               "{\"resize\": [24, 32]";
        QTest::newRow("other result")
            << "flat"
            << "preset"
            << "flat"
            << "size 24 in dimension 2 is expected, shape [3, 3, 56, 56] is "
               "given; change calibration.preprocess";
        QTest::newRow("empty") << "empty"
                               << ""
                               << "empty"
                               << "holds no image";
        QTest::newRow("cut off") << "broken"
                                 << "sides"
                                 << "broken/img1.png"
                                 << "is not an image that can be decoded";
        QTest::newRow("overlong") << "overlong"
                                  << ""
                                  << "overlong/img0.jpg"
                                  << "a Huffman table is too long";
        QTest::newRow("garbage") << "garbage"
                                 << ""
                                 << "garbage/img0.png"
                                 << "remove it, or save it";
        QTest::newRow("few labels") << "labels_few"
                                    << ""
                                    << "labels_few/labels.txt"
                                    << "holds 2 labels for 5 images";
        QTest::newRow("unnamed") << "labels_unnamed"
                                 << ""
                                 << "labels_unnamed/labels.txt"
                                 << "holds no label for 'img1.png'";
        QTest::newRow("letters") << "labels_letters"
                                 << ""
                                 << "labels_letters/labels.txt"
                                 << "line 2 does not end with a whole number";
    }
    void refuses()
    {
        QFETCH(QString, folder);
        QFETCH(QString, recipe);
        QFETCH(QString, file);
        QFETCH(QString, wanted);
        const bool sides = recipe == "sides";
        const auto shape = std::vector {open(), Dim::fixed(3), Dim::fixed(sides ? 33 : 24),
                                        Dim::fixed(sides ? 47 : 32)};
        const auto data = openDataset(path(folder), model(shape),
                                      recipe.isEmpty() ? DatasetOptions {3, 0} : optionsOf(recipe));
        Error error;
        if (!data)
            error = data.error();
        else if (const auto all = allInputs(**data); !all)
            error = all.error();
        const QString line = QString::fromStdString(error.line());
        QVERIFY2(line.contains(wanted), qPrintable(line));
        QVERIFY2(line.startsWith(m_folder.filePath(file)) && !line.contains('\n'),
                 qPrintable(line));
    }

    void sizesThatVaryNeedACrop()
    {
        DatasetOptions options {3, 0};
        options.preprocess = ImagePreprocess {};
        options.preprocess->resize = {20};
        const auto shape
            = std::vector {open(), Dim::fixed(3), Dim {4, "s1", "s1"}, Dim {4, "s2", "s2"}};
        const auto data = openDataset(path("flat"), model(shape), options);
        QVERIFY2(data, data ? "" : data.error().line().c_str());
        const auto batch = (*data)->batch(0);
        QVERIFY(!batch);
        const QString line = QString::fromStdString(batch.error().line());
        QVERIFY2(line.contains("img2.PNG") && line.contains("give \"crop\""), qPrintable(line));
    }

    void aModelOfSeveralInputsIsRefused()
    {
        GraphEdit edit(model({open(), Dim::fixed(3)}));
        Node second;
        second.kind = NodeKind::Input;
        second.name = "y";
        second.outputs.push_back({"", {}});
        edit.insert(second);
        const auto data = openDataset(path("same"), edit.build(), {3, 0});
        QVERIFY(!data);
        QVERIFY(data.error().message.find("which feeds one input; the model takes 2")
                != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestImageDataset)
#include "tst_image_dataset.moc"
