// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/interpreter.h"
#include "engine/execute/random/random_draws.h"
#include "tests/support/graph_text_case.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

using namespace qs;

namespace {

GraphPtr parsed(const QString& notation)
{
    return std::make_shared<const Graph>(qs::test::GraphText().read(notation));
}

std::vector<at::Tensor> run(const GraphPtr& graph, const at::Tensor& x)
{
    const auto outputs = Interpreter::create(graph)->run({x});
    if (!outputs)
        qFatal("%s", outputs.error().line().c_str());
    std::vector<at::Tensor> tensors;
    for (const at::IValue& output : *outputs)
        tensors.push_back(output.toTensor());
    return tensors;
}

at::Tensor generatorState()
{
    return at::detail::getDefaultCPUGenerator().get_state();
}

const QString kModel = QStringLiteral("x: float32[2, 3, 4, 4] = input\n"
                                      "eps: float32[...] = aten.randn_like.default(self=%x)\n"
                                      "z: float32[...] = aten.randn_like.default(self=%x)\n"
                                      "d: float32[...] = aten.dropout.default(input=%x, p=0.5, "
                                      "train=True)\n"
                                      "e: float32[...] = aten.dropout.default(input=%x, p=0.5, "
                                      "train=False)\n"
                                      "return %eps, %z, %d, %e");

} // namespace

class TestRandomDraws : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theSameNumbersInEachRunAndOthersInEachNode()
    {
        const GraphPtr graph = parsed(kModel);
        const at::Tensor x = at::ones({2, 3, 4, 4});
        const auto first = run(graph, x);
        at::randn({7});
        const auto second = run(graph, x);
        for (std::size_t i = 0; i < first.size(); ++i)
            QVERIFY(first[i].equal(second[i]));
        QVERIFY(!first[0].equal(first[1]));
        QVERIFY(!first[2].equal(x));
        QVERIFY(first[3].equal(x));
    }

    /// Whatever lies between, and however the values lie in memory.
    void theSameNumbersInTwoForms()
    {
        const GraphPtr form = parsed("x: float32[2, 3, 4, 4] = input\n"
                                     "y: float32[...] = aten.mul.Tensor(self=%x, other=2)\n"
                                     "more: float32[...] = aten.rand_like.default(self=%y)\n"
                                     "z: float32[...] = aten.randn_like.default(self=%y)\n"
                                     "eps: float32[...] = aten.randn_like.default(self=%y)\n"
                                     "return %eps, %z");
        const at::Tensor x = at::ones({2, 3, 4, 4});
        const auto wanted = run(parsed(kModel), x);
        for (const at::Tensor& given : {x, x.contiguous(at::MemoryFormat::ChannelsLast)}) {
            const auto made = run(form, given);
            QVERIFY(made[0].equal(wanted[0]));
            QVERIFY(made[1].equal(wanted[1]));
        }
    }

    void partOfARunDrawsTheSame()
    {
        const GraphPtr graph = parsed(kModel);
        const at::Tensor x = at::ones({2, 3, 4, 4});
        const Interpreter runner = *Interpreter::create(graph);
        const ValueRef wanted {graph->tryFind("z")->id, 0};
        Frame frame;
        frame.set({graph->inputs()[0]->id, 0}, x);
        QVERIFY(runner.evaluate(frame, std::span(&wanted, 1)));
        QVERIFY(frame.get(wanted).toTensor().equal(run(graph, x)[1]));
    }

    /// Not the library's own hash, say, which another machine need not share.
    void theNumbersAreKnown()
    {
        const at::Tensor eps = run(parsed(kModel), at::ones({2, 3, 4, 4}))[0].flatten();
        QCOMPARE(QString::number(eps[0].item<float>(), 'f', 3), QStringLiteral("0.504"));
    }

    void theProcessesOwnNumbersGoOn()
    {
        const GraphPtr graph = parsed(kModel);
        const at::Tensor before = generatorState();
        run(graph, at::ones({2, 3, 4, 4}));
        QVERIFY(before.equal(generatorState()));
        // Where the kernel fails too.
        const GraphPtr bad = parsed("x: float32[2] = input\n"
                                    "y: float32[...] = aten.bernoulli.default(self=%x)\n"
                                    "return %y");
        QVERIFY(!Interpreter::create(bad)->run({at::full({2}, 7.0)}));
        QVERIFY(before.equal(generatorState()));
    }

    /// A body draws others than the graph around it, and others each time it is run.
    void bodiesDrawTheirOwn()
    {
        const GraphPtr graph = parsed("x: float32[3, 4] = input\n"
                                      "r: float32[...] = aten.rand_like.default(self=%x)\n"
                                      "m: float32[...] = higher_order.map_impl(=\"subgraph:0\", "
                                      "=[%x], =[])\n"
                                      "subgraph\n"
                                      "a: float32[4] = input\n"
                                      "r: float32[...] = aten.rand_like.default(self=%a)\n"
                                      "return %r\n"
                                      "end\n"
                                      "return %r, %m");
        const at::Tensor x = at::ones({3, 4});
        const auto made = run(graph, x), again = run(graph, x);
        QVERIFY(made[1].equal(again[1]));
        QVERIFY(!made[1][0].equal(made[1][1]));
        QVERIFY(!made[0][0].equal(made[1][0]));
        QVERIFY(!drawAlike(*graph, *graph));
        QVERIFY(drawingNodes(*graph) == (std::vector<std::string> {"r", "m/r"}));
    }

    void drawingNodesAreNamed()
    {
        QVERIFY(drawAlike(*parsed(kModel), *parsed(kModel)));
        QVERIFY(!drawAlike(*parsed(kModel), *parsed(QString(kModel).replace("eps", "noise"))));
        QVERIFY(drawingNodes(*parsed(kModel)) == (std::vector<std::string> {"eps", "z", "d"}));
        QCOMPARE(drawingText(*parsed(kModel)), std::string("'eps', 'z', 'd' draw random numbers"));
        // Training mode is reported as such.
        QVERIFY(drawingWarning(*parsed(kModel)).find("'d'") == std::string::npos);
        QCOMPARE(drawingWarning(*parsed("x: float32[2] = input\nreturn %x")), std::string());
        // In training mode, and yet nothing is dropped.
        QVERIFY(drawingNodes(*parsed("x: float32[2] = input\n"
                                     "d: float32[2] = aten.dropout.default(input=%x, p=0.0, "
                                     "train=True)\nreturn %d"))
                    .empty());
    }
};

QTEST_GUILESS_MAIN(TestRandomDraws)
#include "tst_random_draws.moc"
