// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/tensor_store.h"
#include "engine/execute/value_preview.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/text/graph_parser.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

#include <limits>
#include <numeric>

using namespace qs;

namespace {

/// A graph whose nodes p1, p2, ... hold the given values.
GraphPtr holding(const std::vector<at::IValue>& values, const std::vector<std::string>& types)
{
    std::string text = "graph name=\"Net\" format=\"text\"\nmodule \"\" \"Net\"\n"
                       "%x #1 = input \"x\" () -> (x: float32[2])\n";
    auto store = std::make_shared<TensorStore>();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string number = std::to_string(i + 1);
        text += "%p" + number + " #" + std::to_string(i + 2) + " = parameter \"p" + number
            + "\" () -> (p" + number + ": " + types[i] + ") tensor=" + number + "\n";
        store->add(values[i]);
    }
    text += "%output #90 = output \"\" (\"\"=%x) -> ()\n";
    auto graph = parseGraph(text);
    if (!graph)
        qFatal("%s", graph.error().line().c_str());
    GraphEdit edit(*graph);
    edit.setTensors(store);
    return std::make_shared<const Graph>(edit.build());
}

ValuePreview seen(const GraphPtr& graph, const char* name)
{
    auto preview = previewValue(*graph, graph->tryFind(name)->id);
    if (!preview)
        qFatal("%s", preview.error().line().c_str());
    return *preview;
}

} // namespace

class TestValuePreview : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void largeTensorIsSummedUp()
    {
        const auto graph
            = holding({at::arange(1000, at::kFloat).reshape({10, 100})}, {"float32[10, 100]"});
        const auto preview = seen(graph, "p1");
        QCOMPARE(preview.type, std::string("float32[10, 100]"));
        QCOMPARE(preview.count, std::int64_t(1000));
        QCOMPARE(*preview.min, 0.0);
        QCOMPARE(*preview.max, 999.0);
        QCOMPARE(*preview.mean, 499.5);
        QVERIFY(preview.first.size() > 3);
        QCOMPARE(preview.first[2], 2.0);
        // Equal bins of evenly spread values are equally full.
        QVERIFY(!preview.histogram.empty());
        QCOMPARE(std::accumulate(preview.histogram.begin(), preview.histogram.end(), 0L), 1000L);
        QCOMPARE(preview.histogram.front(), 1000 / std::int64_t(preview.histogram.size()));
        QVERIFY(preview.text.empty());
    }

    void nonFiniteIsCountedAndLeftOut()
    {
        at::Tensor values = at::tensor({1.0f, 2.0f, 3.0f});
        values[1] = std::numeric_limits<float>::quiet_NaN();
        const auto preview = seen(holding({values}, {"float32[3]"}), "p1");
        QCOMPARE(preview.nonFinite, std::int64_t(1));
        QCOMPARE(*preview.mean, 2.0);
        QVERIFY(preview.histogram.empty());
    }

    void otherTypesAreRead()
    {
        const at::Tensor quantized
            = at::quantize_per_tensor(at::tensor({0.5f, -0.5f}), 0.25, 3, at::kQInt8);
        const auto graph = holding({at::tensor({1, 0}).to(at::kBool), at::tensor({7, 8}, at::kLong),
                                    quantized, at::empty({0}), at::tensor({1.5f}).to(at::kHalf)},
                                   {"bool[2]", "int64[2]", "qint8[2]", "float32[0]", "float16[1]"});
        QCOMPARE(*seen(graph, "p1").mean, 0.5);
        QCOMPARE(*seen(graph, "p2").max, 8.0);
        QCOMPARE(*seen(graph, "p3").min, -0.5);
        QVERIFY(!seen(graph, "p4").min);
        QCOMPARE(seen(graph, "p5").text, std::string("1.5"));
    }

    void singleNumbersAreText()
    {
        const auto graph = holding({at::scalar_tensor(0.125), at::scalar_tensor(42, at::kLong),
                                    at::ones({1}, at::kBool), at::arange(4)},
                                   {"float64[]", "int64[]", "bool[1]", "int64[4]"});
        const auto texts = scalarTexts(*graph);
        QVERIFY(texts);
        QCOMPARE(texts->size(), std::size_t(3));
        QCOMPARE(texts->at(graph->tryFind("p1")->id), std::string("0.125"));
        QCOMPARE(texts->at(graph->tryFind("p2")->id), std::string("42"));
        QCOMPARE(texts->at(graph->tryFind("p3")->id), std::string("True"));
    }

    void whatHoldsNothingSaysSo()
    {
        const auto graph = holding({at::ones({2})}, {"float32[2]"});
        const auto preview = previewValue(*graph, graph->tryFind("x")->id);
        QVERIFY(!preview);
        QCOMPARE(preview.error().node, std::string("x"));
    }

    void cancelStops()
    {
        const auto graph = holding({at::ones({1 << 22})}, {"float32[4194304]"});
        std::stop_source stop;
        stop.request_stop();
        const auto preview
            = previewValue(*graph, graph->tryFind("p1")->id, JobContext(stop.get_token()));
        QVERIFY(!preview);
        QCOMPARE(preview.error().code, ErrorCode::Cancelled);
    }
};

QTEST_GUILESS_MAIN(TestValuePreview)
#include "tst_value_preview.moc"
