// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/text/graph_parser.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

#include <thread>

using namespace qs;
using namespace std::chrono_literals;

class TestNodeTimes : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void firstRunCountsOnlyAlone()
    {
        NodeTimes times;
        QVERIFY(times.means().empty());
        times.beginRun();
        times.add(NodeId(2), 900ms);
        times.add(NodeId(1), 100ms);
        QCOMPARE(times.means().size(), std::size_t(2));
        QCOMPARE(times.means()[0].node, NodeId(1));
        QCOMPARE(times.means()[1].seconds, 0.9);
        for (const auto took : {10ms, 30ms}) {
            times.beginRun();
            times.add(NodeId(2), took);
        }
        QCOMPARE(times.means().size(), std::size_t(1));
        QCOMPARE(times.means()[0].seconds, 0.02);
    }

    void interpreterTimesWhatRuns()
    {
        auto parsed = parseGraph(
            "graph name=\"Net\" format=\"text\"\nmodule \"\" \"Net\"\n"
            "%x #1 = input \"x\" () -> (x: float32[2])\n"
            "%w #2 = parameter \"w\" () -> (w: float32[2]) tensor=1\n"
            "%fixed #3 = op \"aten.neg.default\" (self=%w) -> (fixed: float32[2])\n"
            "%a #4 = op \"aten.relu.default\" (self=%x) -> (a: float32[2])\n"
            "%b #5 = op \"aten.mul.Tensor\" (self=%a, other=%fixed) -> (b: float32[2])\n"
            "%output #6 = output \"\" (\"\"=%b) -> ()\n");
        QVERIFY2(parsed, parsed ? "" : parsed.error().line().c_str());
        auto store = std::make_shared<TensorStore>();
        store->add(at::ones({2}));
        GraphEdit edit(*parsed);
        edit.setTensors(store);
        const auto graph = std::make_shared<const Graph>(edit.build());
        const auto times = std::make_shared<NodeTimes>();
        const auto runner = Interpreter::create(graph, {.times = times});
        QVERIFY(runner);
        QVERIFY(runner->run({at::ones({2})}));
        QVERIFY(runner->run({at::ones({2})}));
        // What depends on parameters alone is folded, not run.
        const auto means = times->means();
        QCOMPARE(means.size(), std::size_t(2));
        QCOMPARE(means[0].node, graph->tryFind("a")->id);
        QCOMPARE(means[1].node, graph->tryFind("b")->id);
        QVERIFY(means[0].seconds > 0 && means[1].seconds > 0);
    }

    void watchAddsItsLife()
    {
        NodeTimes times;
        times.beginRun();
        {
            const NodeTimes::Watch watch(&times, NodeId(7));
            std::this_thread::sleep_for(5ms);
        }
        {
            const NodeTimes::Watch nobody(nullptr, NodeId(8));
        }
        QCOMPARE(times.means().size(), std::size_t(1));
        QVERIFY(times.means()[0].seconds >= 0.005);
    }
};

QTEST_GUILESS_MAIN(TestNodeTimes)
#include "tst_node_times.moc"
