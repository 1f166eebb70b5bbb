// SPDX-License-Identifier: Apache-2.0
#include "engine/base/log.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/graph/graph_edit.h"

#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <ATen/ATen.h>

using namespace qs;

namespace {

Node input(const std::string& name, DType dtype, std::vector<Dim> shape)
{
    Node node;
    node.kind = NodeKind::Input;
    node.name = name;
    ValueType type;
    type.dtype = dtype;
    type.shapeKnown = true;
    type.shape = std::move(shape);
    node.outputs.push_back({"", type});
    return node;
}

Dim symbol(const char* name)
{
    return {4, name, name};
}

// A model of two inputs: x float32[batch, 3] and ids int64[batch, 2].
Graph model(const Dim& batch)
{
    GraphEdit edit;
    edit.insert(input("x", DType::Float32, {batch, Dim::fixed(3)}));
    edit.insert(input("ids", DType::Int64, {batch, Dim::fixed(2)}));
    Node output;
    output.kind = NodeKind::Output;
    output.name = "output";
    edit.insert(output);
    return edit.build();
}

} // namespace

class TestDataset : public QObject
{
    Q_OBJECT
private:
    QTemporaryDir m_folder;
    std::vector<std::string> m_notes;

    Result<std::unique_ptr<Dataset>> open(const char* file, const Dim& batch,
                                          const DatasetOptions& options = {4, 16})
    {
        m_notes.clear();
        return openDataset(m_folder.filePath(file).toStdString(), model(batch), options);
    }

    // What opening the file or reading its batches says.
    std::optional<Error> firstProblem(const char* file)
    {
        const auto data = open(file, symbol("s0"));
        if (!data)
            return data.error();
        for (std::int64_t i = 0; i < (*data)->batchCount(); ++i) {
            const auto batch = (*data)->batch(i);
            if (!batch)
                return batch.error();
            for (const auto& notFinite : batch->notFinite)
                if (notFinite)
                    return notFinite;
        }
        return std::nullopt;
    }

private Q_SLOTS:
    void initTestCase()
    {
        QProcess python;
        python.start(QS_PYTHON,
                     {QS_SOURCE_DIR "/tests/engine/calibrate/make_data_files.py", m_folder.path()});
        QVERIFY(python.waitForFinished(120000));
        QVERIFY2(python.exitCode() == 0, python.readAllStandardError().constData());
        setLogSink([this](LogLevel, const std::string& text) { m_notes.push_back(text); });
    }
    void cleanupTestCase() { setLogSink({}); }

    void readsByNameOrOrder_data()
    {
        QTest::addColumn<QString>("file");
        for (const char* file : {"named.npz", "ordered.npz", "packed.npz", "columns.npz",
                                 "tuple.pt", "dict.pt", "views.pt"})
            QTest::newRow(file) << file;
    }
    void readsByNameOrOrder()
    {
        QFETCH(QString, file);
        auto data = open(file.toUtf8().constData(), symbol("s0"));
        QVERIFY2(data, data ? "" : data.error().line().c_str());
        QCOMPARE((*data)->batchCount(), std::int64_t(3));
        const auto last = (*data)->batch(2);
        QVERIFY(last);
        QCOMPARE(last->samples, std::int64_t(2));
        QCOMPARE(last->inputs.size(), std::size_t(2));
        QCOMPARE(last->inputs[0].toTensor()[0][0].item<float>(), 24.0f);
        QCOMPARE(last->inputs[1].toTensor()[1][1].item<std::int64_t>(), std::int64_t(19));
        QCOMPARE((*data)->hasLabels(), file == "named.npz");
        // Names in the file that are not inputs: a note gives the order.
        const bool isNoted = file == "packed.npz" || file == "ordered.npz";
        QCOMPARE(m_notes.size(), std::size_t(isNoted));
        if (isNoted)
            QVERIFY2(m_notes[0].find("' as 'x', '") != std::string::npos, m_notes[0].c_str());
        m_notes.clear();
        // An earlier batch again.
        const auto first = (*data)->batch(0);
        QVERIFY(first);
        QCOMPARE(first->samples, std::int64_t(4));
        QCOMPARE(first->inputs[0].toTensor()[3][2].item<float>(), 11.0f);
        QCOMPARE(first->inputs[1].toTensor()[3][0].item<std::int64_t>(), std::int64_t(6));
    }

    void convertsWhatLosesNothing_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("noted");
        const auto row
            = [](const char* file, const char* noted) { QTest::newRow(file) << file << noted; };
        row("double.npz",
            "array 'x' is float64: it is rounded to the float32 that input 'x' takes");
        row("narrow.npz", ""); // whole numbers do not change
        row("bytes.npz", "array 'x' is uint8: it is converted to the float32 that input 'x' takes");
        row("half.npz",
            "array 'x' is float16: it is converted to the float32 that input 'x' takes");
        row("whole.npz", "");
        row("narrow_calls.pt",
            "tensor 0 of call 0 is float64: it is rounded to the float32 that input 'x' takes");
    }
    void convertsWhatLosesNothing()
    {
        QFETCH(QString, file);
        QFETCH(QString, noted);
        const auto data = open(file.toUtf8().constData(), symbol("s0"));
        QVERIFY2(data, data ? "" : data.error().line().c_str());
        const auto batch = (*data)->batch(1);
        QVERIFY2(batch, batch ? "" : batch.error().line().c_str());
        const at::Tensor x = batch->inputs[0].toTensor(), ids = batch->inputs[1].toTensor();
        QVERIFY(x.scalar_type() == at::kFloat && ids.scalar_type() == at::kLong);
        QCOMPARE(x[1][2].item<float>(), 17.0f);
        QCOMPARE(ids[1][1].item<std::int64_t>(), std::int64_t(11));
        QCOMPARE(m_notes.size(), std::size_t(!noted.isEmpty()));
        if (!noted.isEmpty())
            QCOMPARE(QString::fromStdString(m_notes[0]), noted);
    }

    void labelsFollowTheBatches()
    {
        const auto data = open("named.npz", symbol("s0"));
        QVERIFY(data);
        const auto second = (*data)->batch(1);
        QCOMPARE(second->labels.size(0), std::int64_t(4));
        QCOMPARE(second->labels[1].item<std::int64_t>(), std::int64_t(1));
        QCOMPARE((*data)->batch(2)->labels.size(0), std::int64_t(2));
    }

    void limitsBatches()
    {
        const auto data = open("named.npz", symbol("s0"), {3, 2});
        QVERIFY(data);
        QCOMPARE((*data)->batchCount(), std::int64_t(2));
        QCOMPARE((*open("named.npz", symbol("s0"), {3, 0}))->batchCount(), std::int64_t(4));
    }

    void fixedBatchDropsTheTail()
    {
        const auto data = open("named.npz", Dim::fixed(3), {8, 16});
        QVERIFY(data);
        QCOMPARE((*data)->batchCount(), std::int64_t(3));
        QCOMPARE((*data)->batch(2)->samples, std::int64_t(3));
        QCOMPARE(m_notes.size(), std::size_t(1));
        QVERIFY(m_notes[0].find("last 1 of 10") != std::string::npos);
    }

    void listIsCallByCall()
    {
        const auto data = open("list.pt", symbol("s0"), {2, 16});
        QVERIFY2(data, data ? "" : data.error().line().c_str());
        QCOMPARE((*data)->batchCount(), std::int64_t(3));
        QCOMPARE((*data)->batch(1)->samples, std::int64_t(1));
        QCOMPARE((*data)->batch(2)->samples, std::int64_t(10));
        QCOMPARE((*open("list.pt", symbol("s0"), {2, 2}))->batchCount(), std::int64_t(2));
        const auto fixed = open("list.pt", Dim::fixed(4));
        QVERIFY(!fixed);
        QVERIFY(fixed.error().message.find("tensor 0 of call 1") != std::string::npos);
    }

    void refuses_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<QString>("wanted");
        const auto row
            = [](const char* file, const char* wanted) { QTest::newRow(file) << file << wanted; };
        row("half_named.npz", "array 'other' is not an input of the model");
        row("one_missing.npz", "holds 1 input arrays, the model takes 2 ('x', 'ids')");
        row("too_many.npz", "holds 3 input arrays, the model takes 2");
        row("complex.npz",
            "array 'x' does not fit input 'x': float32 is expected, complex64 is given");
        row("fractions.npz",
            "array 'ids' holds 13.5 at index [6, 1], which the int64 of input 'ids' cannot hold");
        row("fraction_call.pt", "tensor 1 of call 0 holds 0.25 at index [0, 0]");
        row("finer.npz", "array 'x' holds 16777217 at index [0, 2], which the float32 of input");
        row("huge.npz", "array 'x' holds a value too large for float32");
        row("rank.npz", "rank 2 is expected, rank 3 (shape [10, 3, 1]) is given");
        row("dims.npz", "size 3 in dimension 1 is expected, shape [10, 2] is given");
        row("uneven.npz", "array 'ids' holds 7 samples, array 'x' holds 10");
        row("nan.npz", "array 'x' holds NaN at index [4, 1]");
        row("inf.npz", "array 'x' holds Inf at index [4, 1]");
        row("scalar.npz", "array 'x' is a single number");
        row("empty.npz", "array 'x' holds no sample");
        row("few_labels.npz", "array 'labels' holds 3 labels for 10 samples");
        row("many_labels.npz", "array 'labels' holds 11 labels for 10 samples");
        row("stray_call.pt", "call 1: holds 'typo', which the model does not take ('x', 'ids')");
        row("inf_call.pt", "tensor 0 of call 1 holds Inf at index [1, 2]");
        row("float_labels.npz", "array 'labels' must hold one whole number a sample");
        row("short_call.pt", "call 0 holds 1 tensor, the model takes 2");
        row("word_call.pt", "tensor 1 of call 0 is not a tensor");
        row("word.pt", "a tensor, a tuple of tensors");
        row("old.pt", "bare Python pickle");
        row("raw.pt", "bare Python pickle");
        row("sparse.pt", "holds a sparse, quantized or otherwise special tensor");
        row("beyond.pt", "tensor 0 does not fit its record");
        row("module.pt", "cannot be read as saved tensors");
        row("hostile.pt", "cannot be read as saved tensors");
        row("cut.pt", "cannot be read as saved tensors");
        row("garbage.pt", "is not a file of torch.save");
        row("void.npz", "is empty");
        row("text.csv", "is not a supported data file");
        row("none.npz", "no such data file");
        row(".", "is a folder of images, which feeds one input; the model takes 2");
    }
    void refuses()
    {
        QFETCH(QString, file);
        QFETCH(QString, wanted);
        const auto problem = firstProblem(file.toUtf8().constData());
        QVERIFY(problem);
        const QString line = QString::fromStdString(problem->line());
        QVERIFY2(line.contains(wanted), qPrintable(line));
        QVERIFY(line.contains(m_folder.path()) && !line.contains('\n'));
        QVERIFY(!QFileInfo::exists(m_folder.filePath("executed")));
    }

    void fixedBatchNeedsEnoughSamples()
    {
        const auto data = open("three.npz", Dim::fixed(4));
        QVERIFY(!data);
        QVERIFY(data.error().message.find("holds 3 samples, input 'x' takes 4 at a time")
                != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestDataset)
#include "tst_dataset.moc"
