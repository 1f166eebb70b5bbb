// SPDX-License-Identifier: Apache-2.0
#include "engine/export/node_data.h"
#include "engine/graph/graph_parser.h"

#include <QtTest/QtTest>

#include <limits>
#include <nlohmann/json.hpp>

using namespace qs;

class TestNodeData : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void resultsAreKeyedByNodeName()
    {
        const auto graph
            = parseGraph("graph name=\"Net\" format=\"text\"\nmodule \"\" \"Net\"\n"
                         "%x #1 = input \"x\" () -> (x: float32[2])\n"
                         "%a #2 = op \"aten.relu.default\" (self=%x) -> (a: float32[2])\n"
                         "%b #3 = op \"aten.relu.default\" (self=%a) -> (b: float32[2])\n"
                         "%c #4 = op \"aten.relu.default\" (self=%b) -> (c: float32[2])\n"
                         "%output #5 = output \"\" (\"\"=%c) -> ()\n");
        QVERIFY2(graph, graph ? "" : graph.error().line().c_str());
        Comparison comparison;
        const auto add = [&](const char* name, std::optional<double> sqnr) {
            NodeError error;
            error.node = graph->tryFind(name)->id;
            error.bornHere.emplace();
            error.bornHere->sqnrDb = sqnr;
            comparison.nodes.push_back(error);
        };
        add("a", 31.5);
        add("b", std::numeric_limits<double>::infinity());
        add("c", std::nullopt);
        const auto json = nlohmann::json::parse(nodeDataJson(*graph, comparison));
        QCOMPARE(json["results"].size(), std::size_t(2));
        QCOMPARE(json["results"]["a"]["value"].get<double>(), 31.5);
        QCOMPARE(json["results"]["b"]["value"].get<double>(), 100.0);
        // The reader wants both ends.
        QCOMPARE(json["gradient"].front()["stop"].get<double>(), 0.0);
        QCOMPARE(json["gradient"].back()["stop"].get<double>(), 1.0);
        QVERIFY(!json["name"].get<std::string>().empty());
    }
};

QTEST_GUILESS_MAIN(TestNodeData)
#include "tst_node_data.moc"
