// SPDX-License-Identifier: Apache-2.0
// The operator table against LibTorch's own registry: what a row names is there.
#include "engine/execute/op_table.h"
#include "engine/execute/reuse.h"
#include "engine/graph/operators/number_operators.h"
#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/operator_words.h"
#include "engine/graph/operators/operators.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/graph/operators/rows/operator_rows.h"

#include <QtTest/QtTest>

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <map>
#include <set>

using namespace qs;

namespace {

using Trait = OperatorTrait;
using Arguments = std::set<std::string>;

/// Of every operator and every overload that LibTorch knows: the names of its arguments.
std::map<std::string, Arguments> registered()
{
    std::map<std::string, Arguments> known;
    const auto add = [&](const c10::FunctionSchema& schema) {
        const auto dotted = [](std::string name) {
            if (const auto colons = name.find("::"); colons != std::string::npos)
                name.replace(colons, 2, ".");
            return name;
        };
        const std::string packet = dotted(schema.name());
        for (const std::string& target : {packet, packet + "." + schema.overload_name()})
            for (const c10::Argument& argument : schema.arguments())
                known[target].insert(argument.name());
        known[packet];
    };
    for (const auto& op : torch::jit::getAllOperators())
        add(op->schema());
    return known;
}

} // namespace

class TestOperatorTable : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void rowsStandOnce()
    {
        std::set<std::string_view> names;
        std::size_t count = 0;
        const auto inspect = [&](const OperatorRows& rows) {
            for (const OperatorRow& row : rows.rows) {
                QVERIFY2(names.insert(row.name).second, std::string(row.name).c_str());
                ++count;
            }
        };
        for (const OperatorRows& family : layerRows())
            inspect(family);
        for (const OperatorRows& rows : {shapeRows(), valueRows(), scriptRows()})
            inspect(rows);
        QCOMPARE(ownOperators().size(), count);
        QVERIFY(count > 450);
    }

    void rowsAreOfLibTorch()
    {
        const auto known = registered();
        for (const OperatorFactsPtr facts : ownOperators()) {
            if (!facts->target.starts_with("aten."))
                continue;
            const auto found = known.find(facts->target);
            QVERIFY2(found != known.end(), facts->target.c_str());
            const Arguments& arguments = found->second;
            std::vector<std::string> named {facts->input, facts->weight, facts->bias};
            if (facts->clamp)
                for (const std::string_view bound :
                     {facts->clamp->lowArgument, facts->clamp->highArgument})
                    named.emplace_back(bound);
            for (const std::string& name : named)
                QVERIFY2(name.empty() || arguments.contains(name),
                         (facts->target + " has no argument " + name).c_str());
        }
    }

    /// What may be overwritten has an operator that does so; what has a plain name has a row there.
    void columnsAgree()
    {
        const auto known = registered();
        for (const OperatorFactsPtr facts : ownOperators()) {
            const OperatorTraits traits = facts->traits;
            if (traits.has(Trait::WorksInPlace))
                QVERIFY2(inPlaceOperator(facts->target + ".default"), facts->target.c_str());
            if (!facts->plain.empty())
                QVERIFY2(known.contains("aten." + facts->plain), facts->target.c_str());
            QVERIFY2(!traits.has(Trait::AboutTracing) || traits.has(Trait::Asserts),
                     facts->target.c_str());
            QVERIFY2(!traits.has(Trait::HandsArgumentOn) || !traits.has(Trait::AllocatesResult),
                     facts->target.c_str());
            QCOMPARE(facts->weighted != OperatorWeight::No, !facts->weight.empty());
        }
    }

    void factsOfSome()
    {
        const OperatorFacts& conv = factsOf("aten.conv2d.padding");
        QCOMPARE(int(conv.family), int(OperatorFamily::Convolution));
        QCOMPARE(conv.weight, std::string("weight"));
        QCOMPARE(&conv, &factsOf("aten::conv2d"));
        QCOMPARE(factsOf("aten.addmm.default").bias, std::string("self"));
        QCOMPARE(factsOf("aten._softmax.default").plain, std::string("softmax"));
        QCOMPARE(int(factsOf("aten.argmax.default").type), int(ResultType::Index));
        QCOMPARE(int(factsOf("aten.view.default").rank), int(ResultRank::SizesSecond));
        QVERIFY(hasTrait("aten.permute.default", Trait::Permutes));
        QVERIFY(!hasTrait("aten.select.int", Trait::Permutes) && movesValues("select"));
        QVERIFY(hasTrait("prim::RaiseException", Trait::Restores));
        QVERIFY(!operatorFacts("aten.of_nobody.default") && !factsOf("operator.add").clamp);
        QVERIFY(factsOf("").target.empty());
    }

    /// An overload that differs from the others has a separate row.
    void overloads()
    {
        QVERIFY(hasTrait("aten.view.default", Trait::NeedsViewableStrides));
        QVERIFY(hasTrait("aten.view.dtype", Trait::ReadsStrides));
        QVERIFY(!hasTrait("aten.view.dtype", Trait::Permutes));
        QVERIFY(factsOf("aten.clamp.default").clamp && !factsOf("aten.clamp.Tensor").clamp);
        QVERIFY(!inPlaceOperator("aten.clamp.Tensor"));
        QVERIFY(isForbiddenOperator("aten.save.default"));
        QVERIFY(isForbiddenOperator("c10d.send.default")
                && !isForbiddenOperator("aten.relu.default"));
    }

    void partsOfNames()
    {
        const auto text = [](std::string_view name) {
            const OperatorParts parts = operatorParts(name);
            return (std::string(parts.space) + '|').append(parts.base()) + '|'
                + std::string(parts.overload);
        };
        QCOMPARE(text("aten.conv2d.default"), std::string("aten|conv2d|default"));
        QCOMPARE(text("aten::relu_"), std::string("aten|relu|"));
        QCOMPARE(text("_operator.add"), std::string("_operator|add|"));
        QCOMPARE(text("aten.__and__.Tensor"), std::string("aten|__and__|Tensor"));
        QCOMPARE(text("relu_") + text("_") + text(""), std::string("|relu||_|||"));
        QCOMPARE(std::string(operatorPacket("aten.view.dtype")), std::string("aten.view"));
        QCOMPARE(std::string(operatorPacket("relu")), std::string("relu"));
        QCOMPARE(shortOpName("aten._softmax.default"), std::string("softmax"));
    }

    void factsByWord()
    {
        QVERIFY(isMainOp("Conv2d", "_convolution") && isMainOp("conv2d", "convolution"));
        QVERIFY(isMainOp("ReLU", "clamp_min") && !isMainOp("relu", "clamp_min"));
        QVERIFY(isMainOp("BatchNorm2d", "native_batch_norm") && isMainOp("LSTM", "lstm"));
        QVERIFY(!isMainOp("linear", "matmul") && isMainOp("Upsample", "upsample_nearest2d"));
        QCOMPARE(wordOfClass("AdaptiveAvgPool2d"), std::string("adaptive_avg_pool2d"));
        QCOMPARE(wordOfClass("BatchNorm2d"), std::string("batch_norm2d"));
        QCOMPARE(wordOfClass("InstanceNorm3d"), std::string("instance_norm"));
        QCOMPARE(wordOfClass("RNNCell"), std::string("rnn_cell"));
        QCOMPARE(wordOfClass("MyLayer"), std::string("my_layer"));
        QCOMPARE(kernelKind("aten.mm.default"), std::string("matmul"));
        QCOMPARE(kernelKind("aten.native_dropout.default"), std::string("native_dropout"));
        QCOMPARE(workOf("conv2d_relu") + workOf("unsqueeze"), std::string("convreshape"));
        QCOMPARE(workOf("view_as"), std::string("view_as"));
        using Channels = OperatorChannels;
        QCOMPARE(int(operatorChannels("quantized.conv2d.new")), int(Channels::Second));
        QCOMPARE(int(operatorChannels("aten.mm.default")), int(Channels::Last));
        QCOMPARE(int(operatorChannels("aten.relu.default")), int(Channels::Passed));
        QCOMPARE(int(operatorChannels("aten.t.default")), int(Channels::Unknown));
        QCOMPARE(std::string(pythonSign("add_")), std::string("+"));
        QVERIFY(pythonSign("true_divide").empty() && pythonOperator("__iadd__") == "operator.add");
        QVERIFY(knownTypeNames().contains("torch.nn.GELU"));
    }

    void inPlaceForms()
    {
        QCOMPARE(&functionalFactsOf("aten.relu_.default"), &factsOf("aten.relu"));
        QVERIFY(!operatorFacts("aten.relu_.default"));
        QVERIFY(functionalFactsOf("aten.__and__.Tensor").traits.has(Trait::Folds));
        QVERIFY(functionalFactsOf("aten.set_.source_Tensor").traits.has(Trait::ReadsStrides));
        QVERIFY(functionalFactsOf("aten.of_nobody_.default").target.empty());
    }

    void numbers()
    {
        QCOMPARE(numberTarget("aten.add.int"), std::string("_operator.add"));
        QCOMPARE(numberTarget("aten.ceil.float"), std::string("math.ceil"));
        QCOMPARE(numberTarget("aten.__not__.default"), std::string("_operator.not_"));
        QVERIFY(numberTarget("aten.add.Tensor").empty() && numberTarget("aten.pow.int").empty());
        QCOMPARE(numberTargetOfTensors("aten::floor_divide"), std::string("_operator.floordiv"));
        QVERIFY(numberTargetOfTensors("aten::div").empty() && numberTargetOfTensors("").empty());
        QCOMPARE(std::string(numberWord("torch.sym_max")), std::string("sym_max"));
        QVERIFY(numberWord("torch.nn.functional.relu").empty()
                && numberWord("aten.add.int").empty());
        QCOMPARE(std::string(scriptNumberOperator("operator.truediv")), std::string("aten::div"));
        QVERIFY(scriptNumberOperator("math.unheard_of").empty());
        const auto known = registered();
        for (const char* target :
             {"_operator.mod", "builtins.abs", "torch.sym_int", "math.trunc"}) {
            std::string script(scriptNumberOperator(target));
            script.replace(script.find("::"), 2, ".");
            QVERIFY2(known.contains(script), target);
        }
    }

    void stepsBetweenFloatsAndIntegers()
    {
        QCOMPARE(dequantizeTargetOf(kQuantizePerTensor), std::string(kDequantizePerTensor));
        QCOMPARE(dequantizeTargetOf(kQuantizeOfMoment), std::string(kDequantizeOfMoment));
        QVERIFY(isQuantizeStep(kQuantizePerTensor) && !isQuantizeStep(kDequantizePerTensor));
        QVERIFY(isChooseStep(kChooseSymmetric) && isReferenceStep(kDequantizePerGroup));
        QVERIFY(isTensorQuantize(kQuantizeTensor) && isTensorDequantize(kDequantizeTensor));
        for (const std::string_view target : {kQuantizeTensor, kDequantizeTensor})
            QVERIFY(findOperator(target));
    }
};

QTEST_GUILESS_MAIN(TestOperatorTable)
#include "tst_operator_table.moc"
