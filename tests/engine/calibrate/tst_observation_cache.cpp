// SPDX-License-Identifier: Apache-2.0
// An observer on both sides of an operator that reorders or cuts off values learns of the second
// from the first: what it keeps must be what two observations leave, to the bit.
#include "engine/calibrate/observation_cache.h"
#include "engine/calibrate/observers/counting_observer.h"
#include "engine/calibrate/observers/observer_factory.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/text/graph_parser.h"
#include "tests/engine/calibrate/compare_stats.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

using namespace qs;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

ObserverSpec specOf(ObserverKind kind)
{
    ObserverSpec spec;
    spec.kind = kind;
    return spec;
}

// A graph that sees `x`, then what `op` makes of it, both with observer 1.
GraphPtr observedTwice(const std::string& op)
{
    const std::string text
        = "%x #1 = input \"x\" () -> (x: float32[2, 4, 3, 3])\n"
          "%a #2 = op \"quantscope.observe.default\" (x=%x) -> (a: float32[2, 4, 3, 3]) "
          "observer=1\n"
          "%y #3 = op "
        + op
        + " -> (y: float32[...])\n"
          "%b #4 = op \"quantscope.observe.default\" (x=%y) -> (b: float32[...]) observer=1\n"
          "%output #5 = output \"\" (\"\"=%b) -> ()\n";
    auto graph = parseGraph(text);
    if (!graph)
        qFatal("%s", graph.error().line().c_str());
    GraphEdit edit(*graph);
    edit.setTensors(std::make_shared<TensorStore>());
    return std::make_shared<const Graph>(edit.build());
}

} // namespace

class TestObservationCache : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { at::manual_seed(5); }

    void cutsCountsOffAsAnObservationDoes()
    {
        const at::Tensor x = at::randn({40000}) * 3;
        const float low = x.min().item<float>(), high = x.max().item<float>();
        const std::vector<Bounds> all {{0, 6},        {0, kInf},   {-kInf, 0}, {-1, 1},
                                       {-0.3f, 0.2f}, {low, high}, {-50, 50},  {low, low},
                                       {high, high},  {0.1f, 0.1f}};
        for (const float wider : {0.0f, 7.5f}) {
            const Observed seen = tensorObserve(x, low - wider, high + wider, 2048);
            for (const Bounds bounds : all) {
                const auto cut = cutOff(seen, bounds);
                QVERIFY(cut);
                const at::Tensor y = at::clamp(x, bounds.low, bounds.high);
                const Observed wanted = tensorObserve(y, seen.low, seen.high, 2048);
                QCOMPARE(cut->batch.min, wanted.batch.min);
                QCOMPARE(cut->batch.max, wanted.batch.max);
                QCOMPARE(cut->low, wanted.low);
                QCOMPARE(cut->high, wanted.high);
                QCOMPARE(cut->counts, wanted.counts);
            }
        }
        QVERIFY(!cutOff(tensorObserve(x, low, high, 2048), {high + 1, high + 2}));
        QVERIFY(!cutOff(tensorObserve(x, low, high, 2048), {2, 1}));
        QVERIFY(!cutOff(tensorObserve(at::tensor({1.0f, NAN}), kInf, -kInf, 2048), {0, 6}));
    }

    // All alike: the histogram is of one point, widened.
    void cutsOffOnePoint()
    {
        const Observed seen = tensorObserve(at::full({9}, 2.0f), kInf, -kInf, 16);
        for (const Bounds bounds : {Bounds {0, 6}, Bounds {2, 2}, Bounds {1.5f, 2.5f}})
            QCOMPARE(cutOff(seen, bounds)->counts, seen.counts);
        QVERIFY(!cutOff(seen, {0, 1}));
    }

    void learnsWhatTwoObservationsFind_data()
    {
        QTest::addColumn<QString>("op");
        QTest::addColumn<bool>("spared");
        const auto row = [](const char* op, bool spared) { QTest::newRow(op) << op << spared; };
        row("\"aten.hardtanh.default\" (self=%a, min_val=0.0, max_val=6.0)", true);
        row("\"aten.hardtanh.default\" (self=%a)", true);
        row("\"aten.relu6.default\" (self=%a)", true);
        row("\"aten.relu.default\" (self=%a)", true);
        row("\"aten.clamp.default\" (self=%a, min=None, max=1)", true);
        row("\"aten.clamp.default\" (self=%a, min=-0.5)", true);
        row("\"aten.reshape.default\" (self=%a, shape=[8, 9])", true);
        row("\"aten.permute.default\" (self=%a, dims=[3, 1, 0, 2])", true);
        row("\"aten.channel_shuffle.default\" (self=%a, groups=2)", true);
        row("\"aten.dropout.default\" (input=%a, p=0.5, train=False)", true);
        row("\"aten.neg.default\" (self=%a)", false);
        row("\"aten.expand.default\" (self=%a, size=[2, 4, 3, 3])", false);
        row("\"aten.max_pool2d.default\" (self=%a, kernel_size=[2, 2])", false);
    }
    void learnsWhatTwoObservationsFind()
    {
        QFETCH(QString, op);
        QFETCH(bool, spared);
        const GraphPtr graph = observedTwice(op.toStdString());
        auto interpreter = Interpreter::create(graph);
        QVERIFY2(interpreter, interpreter ? "" : interpreter.error().line().c_str());
        for (const auto kind :
             {ObserverKind::Histogram, ObserverKind::MinMax, ObserverKind::MovingAverageMinMax,
              ObserverKind::PerChannelMinMax, ObserverKind::Placeholder}) {
            const ObserverSpec spec = specOf(kind);
            const auto both = makeObserver(ObserverId(1), spec);
            const auto once = makeObserver(ObserverId(1), spec);
            ObservationCache cache(*graph);
            // ranges that grow, one below all bounds, one of a single point
            for (const auto& [scale, shift] : std::vector<std::pair<double, double>> {
                     {1, 0}, {4, 1}, {0.1, -9}, {0, 3}, {2, 0.5}, {0.5, 0}}) {
                const at::Tensor x = at::randn({2, 4, 3, 3}) * scale + shift;
                cache.forget();
                const Tap tap
                    = [&](ValueRef, const Node& node, const at::IValue& value) -> Result<void> {
                    if (!node.isOp(kObserveTarget))
                        return {};
                    if (kind == ObserverKind::PerChannelMinMax && value.toTensor().size(0) != 2)
                        return {};
                    both->observe(value.toTensor());
                    cache.observe(*once, node, value.toTensor());
                    return {};
                };
                const auto ran = interpreter->run({x}, tap);
                QVERIFY2(ran, ran ? "" : ran.error().line().c_str());
            }
            compareStats(once->stats(), both->stats());
        }
        // The second value is not read where it follows from the first.
        const auto observer = makeObserver(ObserverId(1), specOf(ObserverKind::Histogram));
        ObservationCache cache(*graph);
        const Node& first = graph->get(NodeId(2));
        const Node& second = graph->get(NodeId(4));
        cache.observe(*observer, first, at::linspace(-4, 4, 72));
        cache.observe(*observer, second, at::full({72}, 3.0f));
        QCOMPARE(observer->stats().batchMin.back() != 3.0f, spared);
    }

    void observesOtherTypesAgain()
    {
        const auto observer = makeObserver(ObserverId(1), specOf(ObserverKind::Histogram));
        Observed found, second;
        observer->observe(at::linspace(-4, 4, 72), found);
        // 0.1 is 0.0999755859375 in half precision
        const at::Tensor y = at::linspace(-4, 4, 72).to(at::kHalf).clamp(-0.1, 0.1);
        observer->observeFollowing(y, found, {-0.1f, 0.1f}, second);
        QCOMPARE(observer->stats().batchMax.back(), y.max().item<float>());
    }
};

QTEST_GUILESS_MAIN(TestObservationCache)
#include "tst_observation_cache.moc"
