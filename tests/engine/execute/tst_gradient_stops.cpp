// SPDX-License-Identifier: Apache-2.0
#include "engine/base/torch_guard.h"
#include "tests/support/gradient_case.h"
#include "tests/support/tensor_compare.h"

#include <c10/core/GradMode.h>

#include <chrono>
#include <thread>

using namespace qs;
using namespace qs::test;

class TestGradientStops : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatNothingFlowsIntoIsUndefined()
    {
        const GraphPtr graph = parsed("x: float32[3] = input\n"
                                      "a: float32[3] = aten.exp.default(self=%x)\n"
                                      "b: float32[3] = aten.sin.default(self=%x)\n"
                                      "c: float32[3] = aten.cos.default(self=%x)\n"
                                      "n: int64[] = aten.argmax.default(self=%c)\n"
                                      "return %a, %b, %n\n");
        const auto sites = valuesNamed(*graph, {"a", "b", "c", "n", "b"});
        Gradients gradients = made(graph, {sites, valuesNamed(*graph, {"a", "b"})});
        const auto firstAlone = [](int, std::span<const at::Tensor> outputs) -> Result<Tensors> {
            return Tensors {at::ones_like(outputs[0]), {}};
        };
        const Seen seen = runOf(gradients, {at::randn({3})}, 1, firstAlone);
        QVERIFY(bitEqual(seen.gradient(0), at::ones({3})));
        QVERIFY(!seen.gradient(1).defined() && !seen.gradient(2).defined());
        QVERIFY(seen.gradients.contains({4, 0}));
        QVERIFY(!seen.gradients.contains({3, 0})); // integers
        const auto blocked = gradients.blocked();
        QCOMPARE(blocked.size(), std::size_t(2));
        QCOMPARE(blocked[0].site, std::size_t(2));
        QCOMPARE(blocked[0].reason, std::string("no output depends on 'cos · c' (c)"));
        QCOMPARE(blocked[1].reason, std::string("'argmax · n' (n) is not a tensor of floats"));
        QVERIFY(!blocked[0].node && !blocked[1].node);
    }

    void nodesWithoutADerivativeAreNamed_data()
    {
        QTest::addColumn<QString>("node");
        QTest::addColumn<QString>("ends");
        // LibTorch leaves it out of the record, records one that fails, fails inside of a formula.
        QTest::newRow("left out") << "aten.special_bessel_y0.default(self=%a)"
                                  << "has no derivative";
        QTest::newRow("recorded as failing") << "aten.heaviside.default(self=%a, values=%a)"
                                             << "has no derivative";
        QTest::newRow("fails in its formula") << "aten.igamma.default(self=%a, other=%a)"
                                              << "has no derivative";
        QTest::newRow("integers") << "aten.argsort.default(self=%a)"
                                  << "gives integers, which have no derivative";
    }

    void nodesWithoutADerivativeAreNamed()
    {
        QFETCH(QString, node);
        QFETCH(QString, ends);
        const QString text = QString("x: float32[3] = input\n"
                                     "a: float32[3] = aten.exp.default(self=%x)\n"
                                     "b: float32[...] = %1\n"
                                     "c: float32[3] = aten.mul.Tensor(self=%b, other=2.0)\n"
                                     "d: float32[3] = aten.tanh.default(self=%c)\n"
                                     "%2"
                                     "e: float32[3] = aten.add.Tensor(self=%d, other=%last)\n"
                                     "return %e\n");
        const at::Tensor x = at::randn({3});
        for (const bool isPast : {false, true}) { // another way leads past it
            QString more = "last: float32[3] = aten.mul.Tensor(self=%a, other=0.5)\n";
            if (!isPast)
                more.replace("%a", "%d");
            const GraphPtr graph = parsed(QString(text).replace("%1", node).replace("%2", more));
            for (const std::size_t whole : {std::size_t(1) << 20, std::size_t(0)}) {
                Gradients gradients = made(
                    graph,
                    {valuesNamed(*graph, {"a", "d", "b"}), {valueNamed(*graph, "e")}, 0, whole});
                for (int run = 0; run < 2; ++run) {
                    const Seen seen = runOf(gradients, {x}, 2);
                    QCOMPARE(seen.gradient(0).defined(), isPast);
                    if (isPast)
                        QVERIFY(bitEqual(seen.gradient(0, 1), at::full({3}, 1.f)));
                    QVERIFY(seen.gradient(1).defined());
                    QCOMPARE(seen.gradients.contains({2, 0}), !ends.contains("integers"));
                }
                const auto blocked = gradients.blocked();
                const bool isTold = !isPast || !ends.contains("integers");
                const bool isInteger = ends.contains("integers"); // `b` holds integers then
                QCOMPARE(blocked.size(), std::size_t(isTold) + std::size_t(isInteger));
                if (!isTold)
                    continue;
                QCOMPARE(blocked[0].site, std::size_t(0));
                QCOMPARE(blocked[0].node, valueNamed(*graph, "b").node);
                QCOMPARE(blocked[0].isPartial, isPast);
                const QString reason = QString::fromStdString(blocked[0].reason);
                QVERIFY2(reason.endsWith("(b) " + ends), qPrintable(reason));
            }
        }
    }

    /// Of two operands one: it fails for it when it runs, and on the way back.
    void oneOperandWithoutADerivativeStopsNotTheOther()
    {
        const QString norm = "aten.batch_norm.default(input=%x, weight=None, bias=None, "
                             "running_mean=%m, running_var=%v, training=False, momentum=0.1, "
                             "eps=0.001, cudnn_enabled=False)";
        for (const QString& node : {norm, QString("aten.igamma.default(self=%m, other=%x)")}) {
            const GraphPtr graph = parsed("x: float32[4, 3] = input\n"
                                          "m: float32[3] = parameter buffer=1 tensor=1\n"
                                          "v: float32[3] = parameter buffer=1 tensor=2\n"
                                          "y: float32[4, 3] = "
                                              + node + "\nreturn %y\n",
                                          {at::rand({3}) + 1, at::rand({3}) + 1});
            Gradients gradients
                = made(graph, {valuesNamed(*graph, {"x", "m"}), {valueNamed(*graph, "y")}});
            for (int run = 0; run < 2; ++run) {
                const Seen seen = runOf(gradients, {at::rand({4, 3}) + 0.5}, 2);
                QVERIFY(seen.gradient(0, 1).defined());
                QVERIFY(!seen.gradient(1).defined());
            }
            const auto blocked = gradients.blocked();
            QCOMPARE(blocked.size(), std::size_t(1));
            QCOMPARE(blocked[0].site, std::size_t(1));
            QVERIFY(!blocked[0].isPartial);
            QCOMPARE(blocked[0].node, valueNamed(*graph, "y").node);
        }
    }

    /// As a function it is the identity, whatever autograd takes it for; in a body as well.
    void detachHandsItsGradientOn()
    {
        const GraphPtr graph
            = parsed("x: float32[3] = input\n"
                     "a: float32[3] = aten.exp.default(self=%x)\n"
                     "b: float32[3] = aten.detach.default(self=%a)\n"
                     "c: float32[3] = quantscope.module.default(inputs=[%b], params=[])\n"
                     "subgraph\n"
                     "u: float32[3] = input\n"
                     "v: float32[3] = aten.detach.default(self=%u)\n"
                     "w: float32[3] = aten.mul.Tensor(self=%v, other=%v)\n"
                     "r: float32[3] = aten.relu.default(self=%w)\n"
                     "return %r\n"
                     "end\n"
                     "return %c\n");
        Gradients gradients
            = made(graph, {valuesNamed(*graph, {"a", "x"}), {valueNamed(*graph, "c")}});
        const at::Tensor x = at::randn({3});
        const Seen seen = runOf(gradients, {x});
        QVERIFY(isClose(2 * x.exp(), seen.gradient(0)));
        QVERIFY(isClose(2 * x.exp() * x.exp(), seen.gradient(1)));
        QVERIFY(gradients.blocked().empty());
    }

    /// A joined pair hands floats on between its halves: nothing is cut there, and with autograd
    /// the integers stop what flows.
    void quantizersStopWhatFlows()
    {
        QString text = qs::test::withSteps("x: float32[64, 8] = input\n"
                                           "a: float32[64, 8] = aten.tanh.default(self=%x)\n"
                                           "q: int8[64, 8] = Q(%a, PARAMS)\n"
                                           "y0: float32[64, 8] = DQ(%q, PARAMS)\n");
        for (int i = 1; i < 12; ++i)
            text += QString("y%1: float32[64, 8] = aten.tanh.default(self=%y%2)\n")
                        .arg(i)
                        .arg(i - 1);
        const GraphPtr graph = parsed(text + "return %y11\n");
        Gradients gradients
            = made(graph, {valuesNamed(*graph, {"a", "y0"}), {valueNamed(*graph, "y11")}, 0, 0});
        const Seen seen = runOf(gradients, {at::randn({64, 8})});
        QVERIFY(seen.segments > 1);
        QVERIFY(!seen.gradient(0).defined() && seen.gradient(1).defined());
        const auto blocked = gradients.blocked();
        QCOMPARE(blocked.size(), std::size_t(1));
        QCOMPARE(blocked[0].node, valueNamed(*graph, "q").node);
    }

    void scopesPutTheModeBack()
    {
        const InferenceScope outer;
        QVERIFY(!c10::GradMode::is_enabled());
        {
            const GradientScope gradients;
            QVERIFY(c10::GradMode::is_enabled());
            {
                const InferenceScope inner;
                QVERIFY(c10::GradMode::is_enabled());
            }
            QVERIFY(c10::GradMode::is_enabled());
        }
        QVERIFY(!c10::GradMode::is_enabled());
        const InferenceScope after;
        QVERIFY(!c10::GradMode::is_enabled());
    }

    void wrongCallsAreErrors()
    {
        const GraphPtr graph = deepGraph(2, 6);
        const auto interpreter = Interpreter::create(graph);
        QVERIFY(!Gradients::create(*interpreter, {{{NodeId(999), 0}}, {valueNamed(*graph, "s1")}}));
        QVERIFY(!Gradients::create(*interpreter, {{valueNamed(*graph, "s1")}, {}}));
        Gradients gradients = made(graph, {{valueNamed(*graph, "y0")}, {valueNamed(*graph, "s1")}});
        const auto see = [](std::size_t, int, const at::Tensor&, const at::Tensor&,
                            const Frame&) -> Result<void> { return {}; };
        QVERIFY(!gradients.run({}, 1, onesTimesProbe, see));
        const auto nothing = [](int, std::span<const at::Tensor>) { return Tensors(); };
        const auto wide = [](int, std::span<const at::Tensor>) { return Tensors {at::ones({9})}; };
        for (const Cotangents& wrong : {Cotangents(nothing), Cotangents(wide)})
            QVERIFY(!gradients.run({at::randn({8, 6})}, 1, wrong, see));
        const auto refused
            = [](std::size_t, int, const at::Tensor&, const at::Tensor&,
                 const Frame&) -> Result<void> { return fail(ErrorCode::Numeric, "no more"); };
        const auto ended = gradients.run({at::randn({8, 6})}, 1, onesTimesProbe, refused);
        QVERIFY(!ended && ended.error().code == ErrorCode::Numeric);
    }

    /// Wherever it is: forward, and inside of a long segment's way back.
    void cancelEndsARunWithinTwoTenthsOfASecond()
    {
        constexpr int kLayers = 60;
        const GraphPtr graph = deepGraph(kLayers, 1024);
        const auto interpreter = Interpreter::create(graph);
        const auto sites = valuesNamed(*graph, deepSites(kLayers));
        const at::Tensor x = at::randn({8, 1024});
        using Clock = std::chrono::steady_clock;
        for (const std::size_t whole : {std::size_t(1) << 30, std::size_t(0)})
            for (const int moment : {0, 1, 2}) { // forward, before the way back, on it
                auto gradients = Gradients::create(*interpreter,
                                                   {sites, {valueNamed(*graph, "s59")}, 0, whole});
                std::stop_source source;
                const JobContext job(source.get_token());
                std::size_t seen = 0;
                Clock::time_point stopped;
                const auto stop = [&] {
                    stopped = Clock::now();
                    source.request_stop();
                };
                std::optional<std::jthread> later;
                if (moment == 0)
                    stop();
                const auto cotangents = [&](int probe, std::span<const at::Tensor> outputs) {
                    if (moment == 1)
                        stop();
                    if (moment == 2)
                        later.emplace([&] {
                            std::this_thread::sleep_for(std::chrono::milliseconds(3));
                            stop();
                        });
                    return onesTimesProbe(probe, outputs);
                };
                const auto see = [&](std::size_t, int, const at::Tensor&, const at::Tensor&,
                                     const Frame&) -> Result<void> {
                    ++seen;
                    return {};
                };
                const auto done = gradients->run({x}, 16, cotangents, see, job);
                const auto took = Clock::now() - stopped;
                QVERIFY(!done);
                QVERIFY(done.error().code == ErrorCode::Cancelled);
                QVERIFY(took < std::chrono::milliseconds(200));
                QVERIFY(seen < 16 * sites.size());
                if (moment < 2)
                    QCOMPARE(seen, std::size_t(0));
                QVERIFY(gradients->blocked().empty()); // a cancel is not a missing derivative
            }
    }
};

QTEST_GUILESS_MAIN(TestGradientStops)
#include "tst_gradient_stops.moc"
