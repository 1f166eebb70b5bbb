// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/interpreter.h"
#include "engine/graph/graph_verifier.h"
#include "engine/import/archive/sample_inputs.h"
#include "engine/import/importer.h"
#include "tests/support/npz_file.h"
#include "tests/support/tensor_compare.h"

#include <QtTest/QtTest>

#include <ATen/Parallel.h>

using namespace qs;
using test::bitEqual;
using test::line;

namespace {

const QString kFolder = QStringLiteral(QS_BINARY_DIR "/tests/models/");

} // namespace

/// Every model of tests/data/make_models.py: opened and run, its outputs equal PyTorch's bit by
/// bit.
class TestImportModels : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase() { at::set_num_threads(1); } // as the script that made the expected values
    void outputsEqualPyTorch_data()
    {
        QTest::addColumn<QString>("path");
        const auto files = QDir(kFolder).entryList({"*.pt2"}, QDir::Files, QDir::Name);
        QVERIFY(files.size() >= 15);
        for (const QString& file : files)
            QTest::newRow(qPrintable(file)) << kFolder + file;
    }
    void outputsEqualPyTorch()
    {
        QFETCH(QString, path);
        const auto graph = importModel(path.toStdString());
        QVERIFY2(graph, line(graph ? Error() : graph.error()).c_str());
        const auto sound = verifyGraph(**graph);
        QVERIFY2(sound, line(sound ? Error() : sound.error()).c_str());
        const auto arrays = test::readNpz(path.chopped(4).toStdString() + ".npz");
        std::vector<at::IValue> inputs;
        for (std::size_t i = 0; inputs.size() < (*graph)->inputs().size(); ++i) {
            const auto it = arrays.find("in" + std::to_string(i));
            QVERIFY(it != arrays.end());
            inputs.emplace_back(it->second);
        }
        const auto runner = Interpreter::create(*graph);
        QVERIFY(runner);
        const auto outputs = runner->run(inputs);
        QVERIFY2(outputs, line(outputs ? Error() : outputs.error()).c_str());
        std::size_t count = 0;
        for (const auto& [name, expected] : arrays) {
            if (!name.starts_with("out"))
                continue;
            ++count;
            const std::size_t index = std::stoul(name.substr(3));
            QVERIFY(index < outputs->size());
            QVERIFY2((*outputs)[index].isTensor(), name.c_str());
            QVERIFY2(bitEqual((*outputs)[index].toTensor(), expected), name.c_str());
        }
        QCOMPARE(outputs->size(), count);
    }
};

QTEST_GUILESS_MAIN(TestImportModels)
#include "tst_import_models.moc"
