// SPDX-License-Identifier: Apache-2.0
#include "engine/export/documents/node_data.h"
#include "engine/export/documents/node_data_reader.h"
#include "engine/graph/text/graph_parser.h"

#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

using namespace qs;

namespace {

Graph chain()
{
    auto graph = parseGraph("graph name=\"Net\" format=\"text\"\nmodule \"\" \"Net\"\n"
                            "%x #1 = input \"x\" () -> (x: float32[2])\n"
                            "%a #2 = op \"aten.relu.default\" (self=%x) -> (a: float32[2])\n"
                            "%b #3 = op \"aten.relu.default\" (self=%a) -> (b: float32[2])\n"
                            "%c #4 = op \"aten.relu.default\" (self=%b) -> (c: float32[2])\n"
                            "%output #5 = output \"\" (\"\"=%c) -> ()\n");
    if (!graph)
        qFatal("%s", graph.error().line().c_str());
    return *graph;
}

} // namespace

class TestNodeData : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void resultsAreKeyedByNodeName();
    void whatIsWrittenIsRead();
    void theGraphThatFitsIsTaken();
    void badFilesAreOneLine_data();
    void badFilesAreOneLine();

private:
    QTemporaryDir m_folder;

    Result<NodeDataPtr> read(const Graph& graph, const std::string& text)
    {
        const std::string path = m_folder.filePath("data.json").toStdString();
        std::ofstream(path) << text;
        return readNodeData(path, graph);
    }
};

void TestNodeData::resultsAreKeyedByNodeName()
{
    const Graph graph = chain();
    Comparison comparison;
    const auto add = [&](const char* name, std::optional<double> sqnr) {
        NodeError error;
        error.node = graph.tryFind(name)->id;
        error.bornHere.emplace();
        error.bornHere->sqnrDb = sqnr;
        comparison.nodes.push_back(error);
    };
    add("a", 31.5);
    add("b", std::numeric_limits<double>::infinity());
    add("c", std::nullopt);
    const auto json = nlohmann::json::parse(nodeDataJson(graph, comparison));
    QCOMPARE(json["results"].size(), std::size_t(2));
    QCOMPARE(json["results"]["a"]["value"].get<double>(), 31.5);
    QCOMPARE(json["results"]["b"]["value"].get<double>(), 100.0);
    // The reader wants both ends.
    QCOMPARE(json["gradient"].front()["stop"].get<double>(), 0.0);
    QCOMPARE(json["gradient"].back()["stop"].get<double>(), 1.0);
    QVERIFY(!json["name"].get<std::string>().empty());
}

void TestNodeData::whatIsWrittenIsRead()
{
    const Graph graph = chain();
    Comparison comparison;
    for (const auto& [name, sqnr] : {std::pair {"a", 31.5}, {"c", 12.25}}) {
        NodeError error;
        error.node = graph.tryFind(name)->id;
        error.bornHere.emplace();
        error.bornHere->sqnrDb = sqnr;
        comparison.nodes.push_back(error);
    }
    const auto data = read(graph, nodeDataJson(graph, comparison));
    QVERIFY2(data, data ? "" : data.error().line().c_str());
    const NodeData& found = **data;
    QCOMPARE(found.values.size(), std::size_t(2));
    QCOMPARE(*found.tryGet(graph.tryFind("a")->id)->value, 31.5);
    QCOMPARE(*found.tryGet(graph.tryFind("c")->id)->value, 12.25);
    QVERIFY(!found.tryGet(graph.tryFind("b")->id));
    QCOMPARE(found.name, std::string("SQNR born here (dB)"));
    QCOMPARE(found.gradient.front().at, 0.0);
    QCOMPARE(found.gradient.back().at, 1.0);
    QCOMPARE(found.min, 12.25);
    QCOMPARE(found.max, 31.5);
    QCOMPARE(found.unmatched, std::size_t(0));
}

void TestNodeData::theGraphThatFitsIsTaken()
{
    const Graph graph = chain();
    const auto data = read(graph, R"({
        "encoder": {"results": {"other": {"value": 1}}},
        "decoder": {"results": {"a": {"value": 5}, "b": {"value": "hot", "bgColor": "#f00"},
                                "gone": {"value": 60}},
                    "thresholds": [{"value": 50, "bgColor": "blue", "label": "much"},
                                   {"value": 10, "bgColor": "red"}]}})");
    QVERIFY2(data, data ? "" : data.error().line().c_str());
    const NodeData& found = **data;
    QCOMPARE(found.values.size(), std::size_t(2));
    QCOMPARE(found.tryGet(graph.tryFind("b")->id)->text, std::string("hot"));
    QCOMPARE(found.tryGet(graph.tryFind("b")->id)->colour, std::string("#f00"));
    QCOMPARE(found.thresholds[0].colour, std::string("red"));
    QCOMPARE(found.thresholds[1].label, std::string("much"));
    QCOMPARE(found.unmatched, std::size_t(1));
    QCOMPARE(found.firstUnmatched, std::string("gone"));
    QCOMPARE(found.max, 60.0); // the scale is that of all that was measured
    QCOMPARE(found.name, std::string("data")); // nameless data go by their file
}

void TestNodeData::badFilesAreOneLine_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("no JSON") << QByteArray("{\"results\":") << QByteArray("not JSON");
    QTest::newRow("a list") << QByteArray("[1, 2]") << QByteArray("not node data");
    QTest::newRow("a recipe") << QByteArray(R"({"format": "quantscope.recipe"})")
                              << QByteArray("not node data");
    QTest::newRow("results") << QByteArray(R"({"results": [1]})") << QByteArray("results");
    QTest::newRow("value") << QByteArray(R"({"results": {"a": {"value": []}}})")
                           << QByteArray("results.a.value: expected a number or text");
    QTest::newRow("bare") << QByteArray(R"({"results": {"a": 3}})") << QByteArray("results.a");
    QTest::newRow("stop") << QByteArray(
        R"({"results": {"a": {"value": 1}}, "gradient": [{"bgColor": "red"}]})")
                          << QByteArray("gradient[0]: the key 'stop'");
    QTest::newRow("stranger") << QByteArray(R"({"results": {"zzz": {"value": 1}}})")
                              << QByteArray("'zzz'");
    QTest::newRow("empty") << QByteArray(R"({"results": {}})") << QByteArray("is empty");
}

void TestNodeData::badFilesAreOneLine()
{
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, says);
    const auto data = read(chain(), text.toStdString());
    QVERIFY(!data);
    const QByteArray line = QByteArray::fromStdString(data.error().line());
    QVERIFY2(line.contains(says), line.constData());
    QVERIFY(!line.contains('\n'));
    QVERIFY(line.contains("data.json"));
}

QTEST_GUILESS_MAIN(TestNodeData)
#include "tst_node_data.moc"
