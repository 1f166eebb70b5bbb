// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/text/graph_parser.h"
#include "engine/plan/module_statistics.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

/// x[s0, 3, 8, 8] -> a: conv 3 -> 4, 3x3, batch norm -> flatten -> b: linear 256 -> 10; c: an LSTM.
Graph model()
{
    const char* text = R"(graph name="Net" format="text"
module "" "tests.Net"
module "a" "tests.Block"
module "a.conv" "torch.nn.Conv2d"
module "a.bn" "torch.nn.BatchNorm2d"
module "b" "torch.nn.Linear"
module "c" "torch.nn.LSTM"
%x #1 = input "x" () -> (x: float32[{"s0" 2 "s0"}, 3, 8, 8])
%aw #2 = parameter "a.conv.weight" () -> (aw: float32[4, 3, 3, 3])
%bnw #3 = parameter "a.bn.weight" () -> (bnw: float32[4])
%bnb #4 = parameter "a.bn.bias" () -> (bnb: float32[4])
%bnm #5 = parameter "a.bn.running_mean" () -> (bnm: float32[4]) buffer=1
%bnv #6 = parameter "a.bn.running_var" () -> (bnv: float32[4]) buffer=1
%bw #7 = parameter "b.weight" () -> (bw: float32[10, 256])
%bb #8 = parameter "b.bias" () -> (bb: float32[10])
%s #9 = input "s" () -> (s: float32[5, 2, 6])
%h #10 = input "h" () -> (h: float32[1, 2, 8])
%ih #11 = parameter "c.weight_ih_l0" () -> (ih: float32[32, 6])
%hh #12 = parameter "c.weight_hh_l0" () -> (hh: float32[32, 8])
%bih #13 = parameter "c.bias_ih_l0" () -> (bih: float32[32])
%conv #14 = op "aten.conv2d.default" (input=%x, weight=%aw, bias=None) -> (conv: float32[{"s0" 2 "s0"}, 4, 8, 8]) scope="a.conv" class="torch.nn.Conv2d"
%bn #15 = op "aten.batch_norm.default" (input=%conv, weight=%bnw, bias=%bnb, running_mean=%bnm, running_var=%bnv) -> (bn: float32[{"s0" 2 "s0"}, 4, 8, 8]) scope="a.bn" class="torch.nn.BatchNorm2d"
%flat #16 = op "aten.flatten.using_ints" (self=%bn) -> (flat: float32[{"s0" 2 "s0"}, 256])
%lin #17 = op "aten.linear.default" (input=%flat, weight=%bw, bias=%bb) -> (lin: float32[{"s0" 2 "s0"}, 10]) scope="b" class="torch.nn.Linear"
%lstm #18 = op "aten.lstm.input" (input=%s, hx=[%h, %h], params=[%ih, %hh, %bih]) -> (lstm: float32[5, 2, 8]) scope="c" class="torch.nn.LSTM"
%odd #19 = op "aten.mm.default" (self=%s, mat2=%s) -> (odd: float32[...])
%output #20 = output "" (""=%lin) -> ()
)";
    auto graph = parseGraph(text);
    if (!graph)
        qFatal("%s", graph.error().line().c_str());
    return std::move(*graph);
}

Plan planOf(const Graph& graph)
{
    Plan plan;
    MatchGroup conv;
    conv.members = {graph.tryFind("conv")->id, graph.tryFind("bn")->id};
    conv.root = conv.members.front();
    conv.quantized = conv.fused = true;
    plan.groups.push_back(conv);
    PlannedObserver weight;
    weight.isWeight = true;
    weight.spec.dtype = DType::QInt8;
    weight.spec.qscheme = QScheme::PerChannelSymmetric;
    const auto add = [&](int id, const char* owner, const char* held) {
        weight.id = ObserverId(id);
        weight.weightOwner = graph.tryFind(owner)->id;
        weight.edges = {{{graph.tryFind(held)->id, 0}, {}}};
        plan.observers.push_back(weight);
    };
    add(1, "conv", "aw");
    weight.spec.qscheme = QScheme::PerTensorSymmetric;
    add(2, "lin", "bw");
    add(3, "lstm", "ih");
    add(4, "lstm", "hh");
    return plan;
}

} // namespace

class TestModuleStatistics : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void countsParametersAndBytes()
    {
        const Graph graph = model();
        const auto block = moduleStatistics(graph, nullptr)["a"];
        QCOMPARE(block.parameters, 108 + 8);
        QCOMPARE(block.floatBytes, 4 * (108 + 16));
        QCOMPARE(block.plannedBytes, block.floatBytes);
        const auto all = moduleStatistics(graph, nullptr)[""];
        QCOMPARE(all.parameters, 116 + 2570 + 32 * 15);
    }
    void countsMultiplications()
    {
        const Graph graph = model();
        const auto block = moduleStatistics(graph, nullptr)["a"];
        // 4 x 8 x 8 outputs of 27 products each; the batch is open.
        QCOMPARE(block.macs, 256 * 27);
        QVERIFY(block.openDimensions);
        QCOMPARE(moduleStatistics(graph, nullptr)["b"].macs, 2560);
        // 5 steps of 2 sequences meet both weights; nothing is open there.
        const auto lstm = moduleStatistics(graph, nullptr)["c"];
        QCOMPARE(lstm.macs, 10 * 32 * 14);
        QVERIFY(!lstm.openDimensions);
        const auto all = moduleStatistics(graph, nullptr)[""];
        QCOMPARE(all.macs, 256 * 27 + 2560 + 4480);
        QCOMPARE(all.unknownOps, 1);
    }
    void plannedBytesFollowThePlan()
    {
        const Graph graph = model();
        const Plan plan = planOf(graph);
        // 108 bytes of weight, 4 channels of scale and zero point; the norm's bias stays.
        QCOMPARE(moduleStatistics(graph, &plan)["a"].plannedBytes, 108 + 4 * 8 + 16);
        QCOMPARE(moduleStatistics(graph, &plan)["b"].plannedBytes, 2560 + 8 + 40);
        // Of a recurrent network the weights; the bias stays.
        QCOMPARE(moduleStatistics(graph, &plan)["c"].plannedBytes, 32 * 14 + 2 * 8 + 4 * 32);
    }
    void anUnknownModuleHoldsNothing()
    {
        const auto none = moduleStatistics(model(), nullptr)["nowhere"];
        QCOMPARE(none.parameters, 0);
        QCOMPARE(none.macs, 0);
    }
};

QTEST_GUILESS_MAIN(TestModuleStatistics)
#include "tst_module_statistics.moc"
