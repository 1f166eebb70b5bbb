// SPDX-License-Identifier: Apache-2.0
#include "engine/base/log.h"
#include "engine/execute/interpreter.h"
#include "engine/graph/text/graph_printer.h"
#include "engine/import/archive/sample_inputs.h"
#include "engine/import/importer.h"
#include "tests/support/zip_edit.h"

#include <QtTest/QtTest>

#include <torch/csrc/jit/runtime/operator.h>

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

using namespace qs;
using nlohmann::json;

namespace {

const QString kModel = QStringLiteral(QS_BINARY_DIR "/tests/models/constants.pt2");

const QString kScript = QStringLiteral(QS_BINARY_DIR "/tests/script_models/structures.scripted.pt");

const QString kTrace = QStringLiteral(QS_BINARY_DIR "/tests/script_models/convnet.traced.pt");

QByteArray bytesOf(const QString& path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

} // namespace

/// Files that are not what they should be: one clear line each, never a crash.
class TestImportBadInput : public QObject
{
    Q_OBJECT
private:
    QTemporaryDir m_folder;
    int m_next = 0;

    QString fresh(const QString& name = "bad.pt2")
    {
        QDir(m_folder.path()).mkdir(QString::number(++m_next));
        return m_folder.filePath(QString::number(m_next) + "/" + name);
    }
    QString written(const QByteArray& bytes, const QString& name = "bad.pt2")
    {
        QString path = fresh(name);
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("cannot write the test's own file");
        return path;
    }
    /// A copy of the model whose program `change` has edited.
    template<class Change>
    QString edited(Change change)
    {
        QString path = written(bytesOf(kModel));
        json program = json::parse(test::readRecord(path.toStdString(), "models/model.json"));
        change(program);
        test::writeRecord(path.toStdString(), "models/model.json", program.dump());
        return path;
    }
    template<class Change>
    QString editedWeights(Change change)
    {
        QString path = written(bytesOf(kModel));
        const char* kRecord = "model_weights_config.json";
        json config = json::parse(test::readRecord(path.toStdString(), kRecord));
        change(config["config"]["mean"]);
        test::writeRecord(path.toStdString(), kRecord, config.dump());
        return path;
    }
    /// The line the user reads; empty when the file opens.
    static QString lineFor(const QString& path)
    {
        const auto graph = importModel(path.toStdString());
        if (graph)
            return {};
        QString line = QString::fromStdString(graph.error().line());
        if (line.contains('\n') || !line.contains(path))
            qFatal("not one line naming the file: %s", qPrintable(line));
        return line;
    }

private Q_SLOTS:
    void init() { QVERIFY2(QFile::exists(kModel), "run make_models first"); }

    void filesOfAnotherKind()
    {
        QVERIFY(lineFor(m_folder.filePath("none.pt2")).contains("no such file"));
        QVERIFY(lineFor(m_folder.path()).contains("is a folder"));
        QVERIFY(lineFor(written("")).contains("the file is empty"));
        QVERIFY(lineFor(written("\x89PNG\r\n\x1a\n....")).contains("a PNG image"));
        QVERIFY(lineFor(written("hello, I am a text\n")).contains("a text file"));
        QVERIFY(lineFor(written(QByteArray("\x01\x02\0\x03", 4))).contains("does not know"));
    }
    void picklesAreRefusedWithTheRecipe()
    {
        const QString bare = lineFor(written("\x80\x02}q\x01."));
        QVERIFY(bare.contains("Python pickle"));
        QVERIFY(bare.contains("torch.export.save"));
        const QString saved = fresh();
        test::writeRecord(saved.toStdString(), "archive/data.pkl", "\x80\x02}q\x01.");
        const QString line = lineFor(saved);
        QVERIFY(line.contains("torch.save"));
        QVERIFY(line.contains("torch.export.save"));
    }
    void otherArchives()
    {
        const QString script = fresh();
        test::writeRecord(script.toStdString(), "m/constants.pkl", "x");
        test::writeRecord(script.toStdString(), "m/code/__torch__.py", "x");
        QVERIFY(lineFor(script).contains("TorchScript"));
        const QString other = fresh();
        test::writeRecord(other.toStdString(), "readme.txt", "x");
        QVERIFY(lineFor(other).contains("zip archive without"));
    }
    void truncatedTorchScript()
    {
        const QByteArray whole = bytesOf(kScript);
        QVERIFY(!whole.isEmpty());
        for (qsizetype size = 1; size < whole.size(); size += whole.size() / 37 + 1)
            QVERIFY2(!lineFor(written(whole.left(size), "bad.pt")).isEmpty(),
                     qPrintable(QString::number(size)));
    }
    /// Whole archives whose pickles or code are not what LibTorch wrote: a line or a graph.
    void mangledTorchScript()
    {
        std::mt19937 random(7);
        const QByteArray whole = bytesOf(kScript);
        const std::array<std::string, 6> names {"data.pkl", "data.pkl",      ".py",
                                                ".py",      "constants.pkl", ".debug_pkl"};
        for (int i = 0; i < 150; ++i) {
            const QString path = written(whole, "bad.pt");
            const std::string& name = names[random() % names.size()];
            std::string bytes = test::readRecord(path.toStdString(), name);
            for (int edits = 1 + int(random() % 3); edits > 0 && !bytes.empty(); --edits)
                bytes[random() % bytes.size()] = char(random() % 256);
            test::writeRecord(path.toStdString(), name, bytes);
            lineFor(path); // stops the test unless it is one line that names the file
        }
    }
    void truncatedAnywhere()
    {
        const QByteArray whole = bytesOf(kModel);
        for (qsizetype size = 1; size < whole.size(); size += whole.size() / 61 + 1)
            QVERIFY2(!lineFor(written(whole.left(size))).isEmpty(),
                     qPrintable(QString::number(size)));
    }
    void flippedBitsAreFoundOrHarmless()
    {
        const auto sound = importModel(kModel.toStdString());
        QVERIFY(sound);
        const std::string text = printGraph(**sound);
        const QByteArray whole = bytesOf(kModel);
        int found = 0, tried = 0;
        for (qsizetype at = 0; at < whole.size(); at += whole.size() / 397 + 1, ++tried) {
            QByteArray bytes = whole;
            bytes[at] = char(bytes[at] ^ (1 << (at % 8)));
            const QString path = written(bytes);
            const auto graph = importModel(path.toStdString());
            if (!graph) {
                ++found;
                continue;
            }
            // Padding and time stamps may differ; what was read may not.
            std::string other = printGraph(**graph);
            const auto cut = [](const std::string& t) { return t.substr(t.find('\n')); };
            QCOMPARE(cut(other), cut(text));
        }
        QVERIFY2(found * 2 > tried, qPrintable(QString("%1 of %2").arg(found).arg(tried)));
    }
    void flippedWeightsAreFound()
    {
        const QByteArray whole = bytesOf(kModel);
        const std::string weight = test::readRecord(kModel.toStdString(), "weights/weight_0");
        const qsizetype at = whole.indexOf(QByteArray(weight.data(), qsizetype(weight.size())));
        QVERIFY(at > 0);
        QByteArray bytes = whole;
        bytes[at + 5] = char(bytes[at + 5] ^ 16);
        QVERIFY(lineFor(written(bytes)).contains("weight_0' is damaged"));
    }
    void schemaVersions()
    {
        const QString newer = edited([](json& p) { p["schema_version"]["major"] = 9; });
        QVERIFY(lineFor(newer).contains("schema 9."));
        const QString older = edited([](json& p) { p["schema_version"]["major"] = 7; });
        QVERIFY(lineFor(older).contains("old schema 7."));
        std::vector<std::string> notes;
        setLogSink([&](LogLevel, const std::string& text) { notes.push_back(text); });
        const QString minor = edited([](json& p) {
            p["schema_version"]["minor"] = 999;
            p["something_new"] = {{"a", 1}};
            p["graph_module"]["graph"]["nodes"][0]["something_new"] = 3;
        });
        QVERIFY(lineFor(minor).isEmpty());
        setLogSink({});
        QCOMPARE(notes.size(), std::size_t(1));
        QVERIFY(notes[0].find("8.999") != std::string::npos);
    }
    void unknownOperatorsBecomeOpaqueNodes()
    {
        const QString path = edited([](json& p) {
            p["graph_module"]["graph"]["nodes"][0]["target"] = "torch.ops.mystery.op.default";
        });
        const auto graph = importModel(path.toStdString());
        QVERIFY2(graph, graph ? "" : graph.error().line().c_str());
        const Node* node = (*graph)->tryFind("sub");
        QVERIFY(node && !node->opaqueReason.empty() && !node->argumentStrings.empty());
        const auto runner = Interpreter::create(*graph);
        QVERIFY(runner);
        const auto samples = readSampleInputs(**graph);
        QVERIFY(samples);
        const auto outputs = runner->run(*samples);
        QVERIFY(!outputs);
        QCOMPARE(outputs.error().node, std::string("sub"));
        QVERIFY(outputs.error().message.find("mystery.op") != std::string::npos);
    }
    void unknownOperatorsOfTorchScriptLeaveNothingBehind()
    {
        const QString path = m_folder.filePath(QStringLiteral("mystery.pt"));
        QVERIFY(QFile::copy(kTrace, path));
        std::string code = test::readRecord(path.toStdString(), "modules/linear.py");
        const auto at = code.find("torch.linear(");
        QVERIFY(at != std::string::npos);
        code.replace(at, 13, "ops.mystery.op(");
        test::writeRecord(path.toStdString(), "modules/linear.py", code);
        const auto symbol = c10::Symbol::fromQualString("mystery::op");
        for (int again = 0; again < 2; ++again) {
            const auto graph = importModel(path.toStdString());
            QVERIFY2(graph, graph ? "" : graph.error().line().c_str());
            const Node* node = (*graph)->tryFind("op");
            QVERIFY(node && !node->opaqueReason.empty());
            QCOMPARE(node->target, std::string("mystery.op.default"));
            QVERIFY(torch::jit::getAllOperatorsFor(symbol).empty());
        }
    }
    void weightsThatLieAboutTheirSize_data()
    {
        QTest::addColumn<QByteArray>("field");
        QTest::addColumn<QByteArray>("value");
        QTest::newRow("huge size")
            << QByteArray("sizes") << QByteArray(R"([{"as_int": 1099511627776}, {"as_int": 3},
                                       {"as_int": 1}, {"as_int": 1}])");
        QTest::newRow("overflow") << QByteArray("strides")
                                  << QByteArray(R"([{"as_int": 9223372036854775807},
                                      {"as_int": 9223372036854775807}, {"as_int": 1}, {"as_int": 1}])");
        QTest::newRow("negative size")
            << QByteArray("sizes") << QByteArray(R"([{"as_int": -1}, {"as_int": 3},
                                           {"as_int": 1}, {"as_int": 1}])");
        QTest::newRow("offset") << QByteArray("storage_offset") << QByteArray(R"({"as_int": 1})");
        QTest::newRow("rank") << QByteArray("sizes") << QByteArray(R"([{"as_int": 3}])");
        QTest::newRow("wider type") << QByteArray("dtype") << QByteArray("8");
        QTest::newRow("unknown type") << QByteArray("dtype") << QByteArray("77");
        QTest::newRow("not a number") << QByteArray("dtype") << QByteArray("\"seven\"");
    }
    void weightsThatLieAboutTheirSize()
    {
        QFETCH(QByteArray, field);
        QFETCH(QByteArray, value);
        const QString path = editedWeights([&](json& weight) {
            weight["tensor_meta"][field.toStdString()] = json::parse(value.toStdString());
        });
        QVERIFY(!lineFor(path).isEmpty());
    }
    void missingRecords()
    {
        for (const char* record : {"weights/weight_0", "model_weights_config.json"}) {
            const QString path = written(bytesOf(kModel));
            test::removeRecord(path.toStdString(), record);
            QVERIFY2(!lineFor(path).isEmpty(), record);
        }
    }
    void programsOfAnotherShape()
    {
        // Every step: something somewhere in the program becomes something else.
        std::mt19937 random(7);
        const std::vector<json> kOthers {json(),         json(1),  json("x"),   json::array(),
                                         json::object(), json(-5), json(1e300), json(true)};
        for (int round = 0; round < 400; ++round) {
            const QString path = edited([&](json& program) {
                json* at = &program;
                while (at->is_structured() && !at->empty() && (at == &program || random() % 12)) {
                    auto it = at->begin();
                    std::advance(it, std::ptrdiff_t(random() % at->size()));
                    at = &*it;
                }
                *at = kOthers[random() % kOthers.size()];
            });
            lineFor(path); // opens or says one line
        }
    }
    void programsThatAreNoJson()
    {
        const QString nested = written(bytesOf(kModel));
        test::writeRecord(nested.toStdString(), "models/model.json",
                          "{\"a\": " + std::string(1000000, '['));
        QVERIFY(lineFor(nested).contains("nested too deeply"));
        const QString broken = written(bytesOf(kModel));
        test::writeRecord(broken.toStdString(), "models/model.json", "{\"a\": ");
        QVERIFY(lineFor(broken).contains("not valid JSON"));
        const QString number = written(bytesOf(kModel));
        test::writeRecord(number.toStdString(), "models/model.json", "{\"a\": NaN}");
        QVERIFY(lineFor(number).contains("models/model.json' is not valid JSON"));
        const QString config = written(bytesOf(kModel));
        test::writeRecord(config.toStdString(), "model_weights_config.json", "{\"config\": {");
        QVERIFY(lineFor(config).contains("model_weights_config.json' is not valid JSON"));
        const QString binary = written(bytesOf(kModel));
        test::writeRecord(binary.toStdString(), "models/model.json", std::string(100, '\xff'));
        QVERIFY(lineFor(binary).contains("not valid JSON"));
    }
    /// Each file says what is wrong where, with the text that is in it.
    void programsOfAnotherShapeNameTheNode_data()
    {
        QTest::addColumn<QByteArray>("place");
        QTest::addColumn<QByteArray>("value");
        QTest::addColumn<QString>("wanted");
        const QByteArray node = "/graph_module/graph/nodes/0", arg = node + "/inputs/0/arg";
        const QString sub = QStringLiteral("node 'sub': does not follow torch.export's schema (");
        QTest::newRow("list") << node + "/inputs" << QByteArray("7") << sub + "7 is not a list";
        QTest::newRow("text") << arg + "/as_tensor/name" << QByteArray("[1]") << sub + "[1] is not";
        QTest::newRow("lacks") << arg + "/as_tensor" << QByteArray("{}")
                               << sub + "{} is not an object with 'name'";
        QTest::newRow("double") << arg << QByteArray(R"({"as_int": 1e300})")
                                << sub + "1e+300 is not a whole number";
        QTest::newRow("wide") << arg << QByteArray(R"({"as_int": 18446744073709551616})")
                              << sub + "1.8446744073709552e+19 is not a whole number";
        QTest::newRow("unnamed") << arg + "/as_tensor/name" << QByteArray("\"missing\"")
                                 << QStringLiteral("'missing' is used before it is made");
        QTest::newRow("no graph") << QByteArray("/graph_module") << QByteArray("[]")
                                  << QStringLiteral("[] is not an object with 'graph'");
    }
    void programsOfAnotherShapeNameTheNode()
    {
        QFETCH(QByteArray, place);
        QFETCH(QByteArray, value);
        QFETCH(QString, wanted);
        const QString line = lineFor(edited([&](json& program) {
            program[json::json_pointer(place.toStdString())] = json::parse(value.toStdString());
        }));
        QVERIFY2(line.contains(wanted), qPrintable(line));
    }
    /// What torch writes as words or as numbers beyond 64 bits is read as it stands.
    void numbersOfAnySize()
    {
        const QString path = edited([](json& program) {
            program["graph_module"]["graph"]["nodes"][0]["inputs"][1]["arg"]
                = json::parse(R"({"as_float": 123456789012345678901234567890})");
            program["graph_module"]["graph"]["nodes"][0]["inputs"][0]["arg"]
                = {{"as_float", "-Infinity"}};
        });
        const auto graph = importModel(path.toStdString());
        QVERIFY2(graph, graph ? "" : graph.error().line().c_str());
        const Node* node = (*graph)->tryFind("sub");
        QVERIFY(node && node->args.size() >= 2);
        QCOMPARE(*node->args[0].value.asDouble(), -std::numeric_limits<double>::infinity());
        QCOMPARE(*node->args[1].value.asDouble(), 123456789012345678901234567890.0);
    }
    void nothingInAPickleRuns()
    {
        const QString path = written(bytesOf(kModel));
        const QString marker = m_folder.filePath("marker");
        const QString inner = fresh("inner.pt");
        const std::string code = "\x80\x02"
                                 "cos\nsystem\nX"
            +
            [&] {
                const std::string command = "touch " + marker.toStdString();
                std::string size(4, '\0');
                size[0] = char(command.size());
                return size + command;
            }()
            + "\x85R.";
        test::writeRecord(inner.toStdString(), "archive/data.pkl", code);
        test::writeRecord(inner.toStdString(), "archive/version", "3\n");
        test::writeRecord(path.toStdString(), "sample_inputs/model.pt",
                          bytesOf(inner).toStdString());
        const auto graph = importModel(path.toStdString());
        QVERIFY(graph);
        const auto samples = readSampleInputs(**graph);
        QVERIFY(!samples);
        QVERIFY(samples.error().message.find("example inputs cannot be read") != std::string::npos);
        QVERIFY(!QFile::exists(marker));
    }
};

QTEST_GUILESS_MAIN(TestImportBadInput)
#include "tst_import_bad_input.moc"
