// SPDX-License-Identifier: Apache-2.0
#include "tests/support/gradient_case.h"
#include "tests/support/tensor_compare.h"

using namespace qs;
using namespace qs::test;

namespace {

const QString kBranches
    = QStringLiteral("x: float32[4, 6] = input\n"
                     "w: float32[5, 6] = parameter tensor=1\n"
                     "y: float32[4, 5] = aten.linear.default(input=%x, weight=%w)\n"
                     "a: float32[4, 5] = aten.tanh.default(self=%y)\n"
                     "b: float32[4, 5] = aten.sigmoid.default(self=%y)\n"
                     "s: float32[4, 5] = aten.mul.Tensor(self=%a, other=%b)\n"
                     "z: float32[4, 5] = aten.add.Tensor(self=%s, other=%y)\n"
                     "return %z, %a\n");

Tensors branchesOf(const at::Tensor& x, const at::Tensor& w)
{
    return autogradOf([&](Tensors& sites) {
        const at::Tensor x1 = asksFor(x), w1 = asksFor(w);
        const at::Tensor y = at::linear(x1, w1), a = at::tanh(y), s = a * at::sigmoid(y);
        sites = {x1, w1, y, a, s};
        return (s + y).sum() + a.sum();
    });
}

} // namespace

class TestGradients : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aSharedValueHasTheSumOfItsReaders()
    {
        const at::Tensor w = at::randn({5, 6}), x = at::randn({4, 6});
        const GraphPtr graph = parsed(kBranches, {asksFor(w)});
        const auto sites = valuesNamed(*graph, {"x", "w", "y", "a", "s"});
        Gradients gradients = made(graph, {sites, valuesNamed(*graph, {"z", "a"}), 0, 0});
        const Seen seen = runOf(gradients, {x}, 3);
        const Tensors wanted = branchesOf(x, w);
        for (std::size_t i = 0; i < sites.size(); ++i)
            for (int probe = 0; probe < 3; ++probe)
                QVERIFY(isClose(wanted[i] * (probe + 1), seen.gradient(i, probe)));
        QVERIFY(bitEqual(seen.values.at({2, 1}), at::linear(x, w)));
        QVERIFY(!seen.values.at({2, 1}).requires_grad());
        QVERIFY(gradients.blocked().empty());
    }

    /// Segments run twice: the dropped elements are those of the first run.
    void randomNumbersAreDrawnAlike()
    {
        QString text = "x: float32[64, 8] = input\n"
                       "d: float32[64, 8] = aten.dropout.default(input=%x, p=0.5, train=True)\n"
                       "y0: float32[64, 8] = aten.tanh.default(self=%d)\n";
        for (int i = 1; i < 12; ++i)
            text += QString("y%1: float32[64, 8] = aten.tanh.default(self=%y%2)\n")
                        .arg(i)
                        .arg(i - 1);
        const GraphPtr graph = parsed(text + "return %y11, %d\n");
        Gradients gradients
            = made(graph, {valuesNamed(*graph, {"x"}), valuesNamed(*graph, {"y11", "d"}), 0, 0});
        const at::Tensor x = at::rand({64, 8}) + 0.5;
        at::Tensor dropped;
        const auto second = [&](int, std::span<const at::Tensor> outputs) -> Result<Tensors> {
            dropped = outputs[1];
            return Tensors {{}, at::ones_like(outputs[1])};
        };
        const Seen seen = runOf(gradients, {x}, 1, second);
        QVERIFY(seen.segments > 1);
        QVERIFY(bitEqual(seen.gradient(0), (dropped != 0).to(at::kFloat) * 2));
        QVERIFY(dropped.eq(0).any().item<bool>() && dropped.ne(0).any().item<bool>());
    }

    void aStateStartsAsSaved()
    {
        const GraphPtr graph
            = parsed("n: float32[2] = parameter buffer=1 tensor=1\n"
                     "x: float32[2] = input\n"
                     "more: float32[2] = aten.add.Tensor(self=%n, other=%x)\n"
                     "next: float32[2] = quantscope.set_state.default(holder=\"n\", value=%more)\n"
                     "y: float32[2] = aten.mul.Tensor(self=%more, other=%more)\n"
                     "return %y\n",
                     {at::tensor({1.f, 2.f})});
        Gradients gradients
            = made(graph, {valuesNamed(*graph, {"more", "n"}), {valueNamed(*graph, "y")}});
        for (int run = 0; run < 2; ++run) {
            const Seen seen = runOf(gradients, {at::ones({2})});
            QVERIFY(bitEqual(seen.gradient(0), at::tensor({4.f, 6.f})));
            QVERIFY(bitEqual(seen.gradient(1), at::tensor({4.f, 6.f})));
        }
    }

    /// What is computed from weights alone is folded, unless a weight before it is a site.
    void gradientsReachWeightsThroughFoldedValues()
    {
        const GraphPtr graph
            = parsed("w: float32[5, 6] = parameter tensor=1\n"
                     "v: float32[5, 6] = aten.mul.Tensor(self=%w, other=%w)\n"
                     "o: float32[5, 6] = quantscope.observe.default(=%v)\n"
                     "x: float32[4, 6] = input\n"
                     "y: float32[4, 5] = aten.linear.default(input=%x, weight=%o)\n"
                     "z: float32[4, 5] = aten.tanh.default(self=%y)\n"
                     "return %z\n",
                     {asksFor(at::randn({5, 6}))});
        const at::Tensor w = tensorsOf(*graph)->getTensor(TensorId(1))->detach();
        const at::Tensor x = at::randn({4, 6});
        const Tensors wanted = autogradOf([&](Tensors& sites) {
            const at::Tensor w1 = asksFor(w), v = w1 * w1;
            sites = {w1, v};
            return at::tanh(at::linear(x, v)).sum();
        });
        const std::vector<ValueRef> output {valueNamed(*graph, "z")};
        Gradients both = made(graph, {valuesNamed(*graph, {"w", "o"}), output, 0, 0});
        Gradients folded = made(graph, {valuesNamed(*graph, {"o"}), output, 0, 0});
        const Seen seen = runOf(both, {x});
        QVERIFY(isClose(wanted[0], seen.gradient(0)));
        QVERIFY(isClose(wanted[1], seen.gradient(1)));
        QVERIFY(isClose(wanted[1], runOf(folded, {x}).gradient(0)));
    }

    /// An observer returns its input: its result is a separate value nevertheless.
    void anIdentityHasTheGradientOfItsOwnReaders()
    {
        const GraphPtr graph = parsed("x: float32[3] = input\n"
                                      "y: float32[3] = aten.exp.default(self=%x)\n"
                                      "o: float32[3] = quantscope.observe.default(=%y)\n"
                                      "p: float32[3] = quantscope.observe.default(=%y)\n"
                                      "a: float32[3] = aten.mul.Tensor(self=%o, other=2)\n"
                                      "b: float32[3] = aten.mul.Tensor(self=%p, other=3)\n"
                                      "c: float32[3] = aten.mul.Tensor(self=%y, other=5)\n"
                                      "s: float32[3] = aten.add.Tensor(self=%a, other=%b)\n"
                                      "t: float32[3] = aten.add.Tensor(self=%s, other=%c)\n"
                                      "return %t, %o\n");
        const auto sites = valuesNamed(*graph, {"o", "p", "y", "t"});
        Gradients gradients = made(graph, {sites, valuesNamed(*graph, {"t", "o"})});
        const Seen seen = runOf(gradients, {at::randn({3})});
        const float wanted[] = {3, 3, 11, 1}; // `o` is an output too
        for (std::size_t i = 0; i < sites.size(); ++i)
            QVERIFY(bitEqual(seen.gradient(i), at::full({3}, wanted[i])));
    }

    void cutsChangeNoBit()
    {
        constexpr int kLayers = 40;
        const GraphPtr graph = deepGraph(kLayers, 16);
        const auto sites = valuesNamed(*graph, deepSites(kLayers));
        const auto outputs = std::vector {valueNamed(*graph, "s39")};
        const at::Tensor x = at::randn({8, 16});
        Gradients whole = made(graph, {sites, outputs, 0});
        const Seen wanted = runOf(whole, {x}, 2);
        QCOMPARE(wanted.segments, std::size_t(1));
        QCOMPARE(wanted.keptBytes, std::size_t(0));

        constexpr std::size_t kValue = 8 * 16 * sizeof(float);
        std::size_t before = 100;
        for (const std::size_t bytes : {std::size_t(0), 6 * kValue, 2 * kValue, kValue}) {
            Gradients cut = made(graph, {sites, outputs, bytes, 0});
            const Seen seen = runOf(cut, {x}, 2);
            QCOMPARE(seen.gradients.size(), 2 * sites.size());
            for (const auto& [which, gradient] : wanted.gradients)
                QVERIFY(bitEqual(gradient, seen.gradients.at(which)));
            for (const auto& [which, value] : wanted.values)
                QVERIFY(bitEqual(value, seen.values.at(which)));
            // One value is alive between two layers.
            QCOMPARE(seen.keptBytes, (seen.segments - 1) * kValue);
            QVERIFY(bytes == 0 || seen.keptBytes <= bytes);
            QVERIFY(seen.segments > 1 && seen.segments < before);
            before = seen.segments;
            if (bytes == 0) // sqrt(120) steps
                QVERIFY(seen.segments >= 8 && seen.segments <= 16);
        }
    }

    void aSegmentHoldsWhatTheNodesOfSitesRead()
    {
        const GraphPtr graph = deepGraph(40, 16);
        Gradients gradients
            = made(graph, {valuesNamed(*graph, {"y3", "y39"}), {valueNamed(*graph, "s39")}, 0, 0});
        std::vector<std::size_t> seen;
        const auto see = [&](std::size_t site, int, const at::Tensor& value, const at::Tensor&,
                             const Frame& segment) -> Result<void> {
            const std::string number = site == 0 ? "3" : "39", read = site == 0 ? "s2" : "s38";
            const auto w = tensorsOf(*graph)->getTensor(TensorId(std::stoul(number) + 1));
            const at::Tensor x = segment.get(valueNamed(*graph, read)).toTensor();
            seen.push_back(site);
            return bitEqual(at::linear(x.detach(), *w), value) ? Result<void>()
                                                               : fail(ErrorCode::Internal, read);
        };
        QVERIFY(gradients.run({at::randn({8, 16})}, 1, onesTimesProbe, see));
        QVERIFY((seen == std::vector<std::size_t> {1, 0}));
    }

    void aRecurrenceInsideANode()
    {
        const GraphPtr graph
            = parsed("x: float32[5, 2] = input\n"
                     "h: float32[2] = input\n"
                     "y: float32[5, 2] = aten.mul.Tensor(self=%x, other=0.5)\n"
                     "rnn (all: float32[5, 2], last: float32[2]) = "
                     "quantscope.recur.default(sequence=%y, states=[%h], extra=[])\n"
                     "subgraph\n"
                     "slice: float32[2] = input\n"
                     "state: float32[2] = input\n"
                     "sum: float32[2] = aten.add.Tensor(self=%slice, other=%state)\n"
                     "next: float32[2] = aten.tanh.default(self=%sum)\n"
                     "return %next\n"
                     "end\n"
                     "z: float32[5, 2] = aten.exp.default(self=%all)\n"
                     "return %z, %last\n");
        const at::Tensor x = at::randn({5, 2}), h = at::randn({2});
        const Tensors wanted = autogradOf([&](Tensors& sites) {
            const at::Tensor y = asksFor(x * 0.5), start = asksFor(h);
            Tensors steps;
            at::Tensor state = start;
            for (int i = 0; i < 5; ++i)
                steps.push_back(state = at::tanh(y[i] + state));
            const at::Tensor all = at::stack(steps);
            sites = {y, start, all};
            return all.exp().sum() + state.sum();
        });
        for (const std::size_t whole : {std::size_t(1) << 20, std::size_t(0)}) {
            Gradients gradients = made(
                graph,
                {valuesNamed(*graph, {"y", "h"}), valuesNamed(*graph, {"z", "last"}), 0, whole});
            const Seen seen = runOf(gradients, {x, h});
            QVERIFY(isClose(wanted[0], seen.gradient(0)));
            QVERIFY(isClose(wanted[1], seen.gradient(1)));
        }
    }

    /// Whole runs overwrite values without further readers, except those that autograd keeps.
    void nothingIsWrittenOverWhileAutogradRecords()
    {
        QString text = "x: float32[3] = input\n"
                       "a: float32[3] = aten.exp.default(self=%x)\n"
                       "c: float32[3] = quantscope.module.default(inputs=[%a], params=[])\n"
                       "subgraph\n"
                       "u: float32[3] = input\n"
                       "v: float32[3] = aten.exp.default(self=%u)\n"
                       "w: float32[3] = aten.relu.default(self=%v)\n"
                       "r: float32[3] = aten.sigmoid.default(self=%w)\n"
                       "return %r\n"
                       "end\n"
                       "return %c\n";
        const GraphPtr graph = parsed(text);
        const at::Tensor x = at::randn({3});
        Gradients gradients = made(graph, {{valueNamed(*graph, "a")}, {valueNamed(*graph, "c")}});
        const Tensors wanted = autogradOf([&](Tensors& sites) {
            sites = {asksFor(x.exp())};
            return sites[0].exp().sigmoid().sum();
        });
        QVERIFY(isClose(wanted[0], runOf(gradients, {x}).gradient(0)));
        const auto outputs = Interpreter::create(graph)->run({x});
        QVERIFY(!outputs->at(0).toTensor().requires_grad());
    }
};

QTEST_GUILESS_MAIN(TestGradients)
#include "tst_gradients.moc"
