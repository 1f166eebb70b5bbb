// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/interpreter.h"
#include "engine/graph/graph_verifier.h"
#include "engine/import/importer.h"
#include "tests/support/npz_file.h"
#include "tests/support/tensor_compare.h"

#include <QtTest/QtTest>

#include <ATen/Parallel.h>

using namespace qs;
using test::bitEqual;
using test::line;

namespace {

/// Numbers among the outputs stand in the file as arrays without dimensions.
at::Tensor asTensor(const at::IValue& value)
{
    if (value.isTensor())
        return value.toTensor();
    return value.isInt()   ? at::scalar_tensor(value.toInt(), at::kLong)
        : value.isBool()   ? at::scalar_tensor(value.toBool(), at::kBool)
        : value.isDouble() ? at::scalar_tensor(value.toDouble(), at::kDouble)
                           : at::Tensor();
}

} // namespace

/// Every model of tests/data/make_script_models.py: opened and run, its outputs equal those of
/// torch.jit.load bit by bit. The folder is the first argument's, else that of the small models.
class TestImportTorchScript : public QObject
{
    Q_OBJECT
private:
    static QString folder()
    {
        const QString given = qEnvironmentVariable("QS_SCRIPT_MODELS");
        return given.isEmpty() ? QStringLiteral(QS_BINARY_DIR "/tests/script_models/") : given;
    }

private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); } // as the script that made the expected values
    void outputsEqualPyTorch_data()
    {
        QTest::addColumn<QString>("path");
        const auto files = QDir(folder()).entryList({"*.pt"}, QDir::Files, QDir::Name);
        QVERIFY(files.size() >= 14);
        for (const QString& file : files)
            QTest::newRow(qPrintable(file)) << folder() + file;
    }
    void outputsEqualPyTorch()
    {
        QFETCH(QString, path);
        const auto graph = importModel(path.toStdString());
        QVERIFY2(graph, line(graph ? Error() : graph.error()).c_str());
        const auto sound = verifyGraph(**graph);
        QVERIFY2(sound, line(sound ? Error() : sound.error()).c_str());
        const auto arrays = test::readNpz(path.chopped(3).toStdString() + ".npz");
        const auto runner = Interpreter::create(*graph);
        QVERIFY(runner);
        // Twice: what the first call changes must not be seen by the second.
        for (int call = 0; call < 2; ++call) {
            std::vector<at::IValue> inputs;
            for (const Node* input : (*graph)->inputs()) {
                const auto it = arrays.find("in" + std::to_string(inputs.size()));
                QVERIFY(it != arrays.end());
                if (input->outputs[0].type.kind == ValueKind::SymInt)
                    inputs.emplace_back(it->second.item().toLong());
                else
                    inputs.emplace_back(it->second.clone());
            }
            const auto outputs = runner->run(inputs);
            QVERIFY2(outputs, line(outputs ? Error() : outputs.error()).c_str());
            std::size_t count = 0;
            for (const auto& [name, expected] : arrays) {
                if (!name.starts_with("out"))
                    continue;
                ++count;
                const std::size_t index = std::stoul(name.substr(3));
                QVERIFY(index < outputs->size());
                const at::Tensor got = asTensor((*outputs)[index]);
                QVERIFY2(got.defined(), name.c_str());
                QVERIFY2(bitEqual(got, expected), name.c_str());
            }
            QVERIFY(count > 0 && count <= outputs->size());
        }
    }
};

QTEST_GUILESS_MAIN(TestImportTorchScript)
#include "tst_import_torchscript.moc"
