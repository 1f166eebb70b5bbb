// SPDX-License-Identifier: Apache-2.0
#include "engine/base/torch_guard.h"
#include "engine/convert/convert.h"
#include "engine/execute/interpreter.h"
#include "engine/export/exporter.h"
#include "engine/export/forms/fold_weights.h"
#include "engine/import/importer.h"
#include "tests/engine/export/export_samples.h"
#include "tests/engine/export/graph_builder.h"

#include <QtCore/QProcess>
#include <QtCore/QTemporaryDir>
#include <QtTest/QtTest>

#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <fstream>

using namespace qs;

namespace {

QString text(const Result<void>& result)
{
    return result ? QString() : QString::fromStdString(result.error().line());
}

} // namespace

class TestExporters : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    QProcess m_checker; ///< one Python for all files: it starts slowly

    QString pathOf(const QString& name) const { return m_folder.filePath(name); }

    /// Runs the calls through the interpreter and keeps inputs and outputs for the checker.
    Result<void> writeExpected(const Sample& sample, const QString& path) const
    {
        return guardTorch([&]() -> Result<void> {
            QS_TRY(const Interpreter interpreter, Interpreter::create(sample.graph));
            c10::impl::GenericList calls(c10::AnyType::get());
            for (const int n : {2, 1, 3, 7}) {
                const Sample::Call call = sample.call(n);
                QS_TRY(Values outputs, interpreter.run(call.flat));
                calls.push_back(tuple({call.args, call.kwargs, tuple(std::move(outputs))}));
            }
            const std::vector<char> bytes = torch::jit::pickle_save(calls);
            std::ofstream file(path.toStdString(), std::ios::binary);
            file.write(bytes.data(), std::streamsize(bytes.size()));
            return {};
        });
    }

    void check(const QString& file, const QString& expected, const std::string& structure)
    {
        const QStringList asked {file, expected, QString::fromStdString(structure)};
        m_checker.write(asked.join('\t').toUtf8() + '\n');
        while (!m_checker.canReadLine())
            QVERIFY2(m_checker.waitForReadyRead(240000), "the checker does not answer");
        const QByteArray said = m_checker.readLine();
        QVERIFY2(said.startsWith("equal: "), said.constData());
    }

private Q_SLOTS:
    void initTestCase()
    {
        registerQuantizedDecomposed();
        QVERIFY(m_folder.isValid());
        m_checker.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        m_checker.start(QS_PYTHON, {QS_SOURCE_DIR "/tests/engine/export/check_exports.py"});
        QVERIFY2(m_checker.waitForStarted(), qPrintable(m_checker.errorString()));
    }

    void cleanupTestCase()
    {
        m_checker.closeWriteChannel();
        QVERIFY(m_checker.waitForFinished(60000));
    }

    void reloadsEqual_data()
    {
        QTest::addColumn<int>("model");
        QTest::addColumn<QString>("form");
        const char* names[] = {"reference", "lowered", "arithmetic", "region"};
        for (int model = 0; model < 4; ++model)
            for (const char* form : {"ts.pt", "pt2", "folded.pt2"})
                if (model != 1 || std::string_view(form) == "ts.pt")
                    QTest::addRow("%s-%s", names[model], form) << model << QString(form);
    }

    void reloadsEqual()
    {
        QFETCH(int, model);
        QFETCH(QString, form);
        const InferenceScope scope;
        const Sample sample = model == 0 ? referenceSample()
            : model == 1                 ? loweredSample()
            : model == 2                 ? arithmeticSample()
                                         : regionSample();
        const QString expected = pathOf("expected.pt");
        const auto stored = writeExpected(sample, expected);
        QVERIFY2(stored, qPrintable(text(stored)));
        const QString file = pathOf("model." + form);
        Result<void> written;
        if (form == "ts.pt")
            written = writeTorchScript(*sample.graph, file.toStdString());
        else if (form == "pt2")
            written = writePt2(*sample.graph, file.toStdString());
        else {
            const auto folded = foldWeights(*sample.graph);
            QVERIFY2(folded, folded ? "" : folded.error().line().c_str());
            written = writePt2(*folded, file.toStdString());
        }
        QVERIFY2(written, qPrintable(text(written)));
        check(file, expected, sample.structure);
    }

    /// A real file: what is written from it opens again, in Python and here, with the same names
    /// and numbers.
    void keepsAnImportedModel()
    {
        const InferenceScope scope;
        const auto model = importModel(QS_SOURCE_DIR "/resources/samples/digits.pt2");
        QVERIFY2(model, model ? "" : model.error().line().c_str());
        Sample sample;
        sample.graph = *model;
        sample.structure = "'T'";
        sample.call = [](int n) {
            const at::IValue x = random({n, 1, 8, 8}, 40 + n);
            return Sample::Call {tuple({x}), strings({}), {x}};
        };
        const QString expected = pathOf("digits.expected.pt");
        const auto stored = writeExpected(sample, expected);
        QVERIFY2(stored, qPrintable(text(stored)));
        const QString script = pathOf("digits.ts.pt"), program = pathOf("digits.pt2");
        const auto first = writeTorchScript(**model, script.toStdString());
        QVERIFY2(first, qPrintable(text(first)));
        check(script, expected, sample.structure);
        const auto second = writePt2(**model, program.toStdString());
        QVERIFY2(second, qPrintable(text(second)));
        check(program, expected, sample.structure);

        const auto again = importModel(program.toStdString());
        QVERIFY2(again, again ? "" : again.error().line().c_str());
        std::vector<std::string> before, after;
        for (const NodePtr& node : (*model)->nodes())
            before.push_back(node->name + " " + node->target + " " + node->scope.path);
        for (const NodePtr& node : (*again)->nodes())
            after.push_back(node->name + " " + node->target + " " + node->scope.path);
        std::sort(before.begin(), before.end());
        std::sort(after.begin(), after.end());
        QCOMPARE(after, before);
        QCOMPARE((*again)->info().outputTree, (*model)->info().outputTree);
    }

    void foldsWeightsIntoIntegers()
    {
        const Sample sample = referenceSample();
        const auto folded = foldWeights(*sample.graph);
        QVERIFY2(folded, folded ? "" : folded.error().line().c_str());
        int integers = 0, quantizers = 0;
        for (const NodePtr& node : folded->nodes()) {
            integers
                += node->kind == NodeKind::Parameter && node->outputs[0].type.dtype == DType::Int8;
            quantizers += node->target == "quantized_decomposed.quantize_per_channel.default";
            QVERIFY2(node->kind != NodeKind::Parameter || node->target != "conv.weight"
                         || node->outputs[0].type.dtype == DType::Int8,
                     "the float weight is still there");
        }
        QCOMPARE(integers, 2);
        QCOMPARE(quantizers, 0);
    }

    void namesTheNodeItCannotWrite()
    {
        GraphBuilder b;
        const ValueRef x = b.input("x", GraphBuilder::batchOf({4}));
        const ValueRef odd
            = b.op("nowhere.mystery.default", {{"x", x}}, GraphBuilder::batchOf({4}));
        const GraphPtr graph = b.finish({odd});
        const auto written = writeTorchScript(*graph, pathOf("odd.ts.pt").toStdString());
        QVERIFY(!written);
        QCOMPARE(QString::fromStdString(written.error().node), QString("mystery"));
        QVERIFY(QString::fromStdString(written.error().message).contains("nowhere.mystery"));
    }
};

QTEST_GUILESS_MAIN(TestExporters)
#include "tst_exporters.moc"
