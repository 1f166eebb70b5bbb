// SPDX-License-Identifier: Apache-2.0
#include "engine/base/sha256.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/graph_edit.h"
#include "engine/import/archive/sample_inputs.h"
#include "engine/import/functionalize/functionalize.h"
#include "engine/import/functionalize/view_updates.h"
#include "engine/import/importer.h"
#include "tests/support/tiny_graph.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace qs;

namespace {

GraphPtr opened(const std::string& name)
{
    auto graph = importModel(QS_BINARY_DIR "/tests/models/" + name + ".pt2");
    if (!graph)
        qFatal("%s", graph.error().line().c_str());
    return *graph;
}

const Node& find(const Graph& graph, const std::string& name)
{
    const Node* node = graph.tryFind(name);
    if (!node)
        qFatal("no node %s", name.c_str());
    return *node;
}

std::ptrdiff_t countOriginals(const Graph& graph, const std::string& target)
{
    return std::count_if(graph.nodes().begin(), graph.nodes().end(),
                         [&](const NodePtr& node) { return node->originalTarget == target; });
}

} // namespace

/// What import makes of a file, fact by fact.
class TestImportGraph : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void nodesKnowWhereTheyComeFrom()
    {
        const GraphPtr graph = opened("resnet18");
        const Node& conv = find(*graph, "conv2d_1");
        QCOMPARE(conv.target, std::string("aten.conv2d.default"));
        QVERIFY(conv.scope == (Scope {"layer1.0.conv1", "torch.nn.Conv2d", 0}));
        QVERIFY(conv.source.file.ends_with("torchvision/models/resnet.py"));
        QVERIFY(conv.source.line > 0);
        QCOMPARE(conv.source.function, std::string("forward"));
        QCOMPARE(conv.source.code, std::string("out = self.conv1(x)"));
        QCOMPARE(conv.torchFn, std::string("builtin_function_or_method.conv2d"));
        const ModuleEntry* block = graph->modules().tryGet("layer1.0");
        QVERIFY(block);
        QCOMPARE(block->moduleClass, std::string("torchvision.models.resnet.BasicBlock"));
        QVERIFY(block->children.size() >= 5);
        QCOMPARE(graph->modules().root().moduleClass,
                 std::string("torchvision.models.resnet.ResNet"));
        QCOMPARE(graph->modules().tryGet("layer1.0.conv1")->parameters,
                 std::vector<std::string> {"layer1.0.conv1.weight"});
        QCOMPARE(find(*opened("twice_called"), "conv2d_1").scope.callIndex, 1);
        QCOMPARE(find(*opened("twice_called"), "conv2d_1").scope.path, std::string("block.0"));
    }
    void inputsFirstThenWeights()
    {
        const GraphPtr graph = opened("constants");
        const auto nodes = graph->nodes();
        QVERIFY(nodes[0]->kind == NodeKind::Input);
        QCOMPARE(nodes[0]->name, std::string("x"));
        const Node& mean = find(*graph, "b_mean");
        QVERIFY(mean.kind == NodeKind::Parameter && mean.isBuffer && mean.persistentBuffer);
        QCOMPARE(mean.target, std::string("mean"));
        const Node& gain = find(*graph, "b_gain");
        QVERIFY(gain.kind == NodeKind::Parameter && gain.isBuffer && !gain.persistentBuffer);
        QVERIFY(find(*graph, "c_plain").kind == NodeKind::Constant);
        QVERIFY(nodes.back()->kind == NodeKind::Output);
    }
    void sizesMayBeSymbols()
    {
        const GraphPtr graph = opened("shapes");
        const ValueType& x = graph->inputs()[0]->outputs[0].type;
        QVERIFY(x.dtype == DType::Float32 && x.shapeKnown);
        QCOMPARE(x.shape.size(), std::size_t(4));
        QVERIFY(x.shape[0].isSymbolic());
        QCOMPARE(x.shape[0].size, 2);
        QVERIFY(x.shape[0].expression.starts_with("Symbol('" + x.shape[0].symbol + "'"));
        QCOMPARE(x.shape[1].size, 6);
        QVERIFY(!x.shape[1].isSymbolic());
        const auto sizes
            = std::count_if(graph->nodes().begin(), graph->nodes().end(), [](const NodePtr& node) {
                  return !node->outputs.empty() && node->outputs[0].type.kind == ValueKind::SymInt;
              });
        QVERIFY(sizes >= 3);
        QVERIFY(!opened("resnet18_static")->inputs()[0]->outputs[0].type.shape[0].isSymbolic());
    }
    void listResultsAreOutputs()
    {
        const GraphPtr graph = opened("lists");
        const Node& chunk = find(*graph, "chunk");
        QCOMPARE(chunk.outputs.size(), std::size_t(2));
        for (const auto& node : graph->nodes())
            QVERIFY(node->target.find("getitem") == std::string::npos);
        QCOMPARE(graph->output().args.size(), std::size_t(4));
    }
    void tiedWeightsShareMemory()
    {
        const GraphPtr graph = opened("tied");
        std::vector<const void*> storages;
        for (const auto& node : graph->nodes())
            if (node->kind == NodeKind::Parameter) {
                const auto tensor = tensorsOf(*graph)->getTensor(node->tensor);
                QVERIFY2(tensor, tensor ? "" : tensor.error().line().c_str());
                storages.push_back(tensor->storage().data());
            }
        QVERIFY(storages.size() >= 3);
        std::sort(storages.begin(), storages.end());
        QVERIFY(std::adjacent_find(storages.begin(), storages.end()) != storages.end());
    }
    void weightsAreReadWhenFirstUsed()
    {
        const GraphPtr graph = opened("resnet18");
        const Node& weight = find(*graph, "p_fc_weight");
        QCOMPARE(graph->tensors()->bytes(weight.tensor), std::uint64_t(512 * 1000 * 4));
        const auto first = tensorsOf(*graph)->getTensor(weight.tensor);
        const auto second = tensorsOf(*graph)->getTensor(weight.tensor);
        QVERIFY(first && second && first->is_same(*second));
    }
    void theWholeModelIsDescribed()
    {
        const GraphPtr graph = opened("structured");
        const ModelInfo& info = graph->info();
        QCOMPARE(info.format, std::string("pt2"));
        QVERIFY(info.producer.starts_with("torch 2."));
        QCOMPARE(info.sha256.size(), std::size_t(64));
        QCOMPARE(info.sha256, *fileSha256(info.path));
        QVERIFY(info.inputTree.find("builtins.dict") != std::string::npos);
        QVERIFY(info.outputTree.find("parts") != std::string::npos);
        QVERIFY(!info.converted);
        const auto record = nlohmann::json::parse(info.exportRecord);
        QVERIFY(record.contains("range_constraints") && record.contains("schema_version"));
        const auto& module = record.at("graph_module");
        QVERIFY(module.at("graph").at("nodes").empty());
        QVERIFY(module.at("graph").at("tensor_values").contains("pair_0"));
        QVERIFY(module.at("signature").at("input_specs").size() == 8);
        // An argument that the exporter fixed to a number is not an input.
        QCOMPARE(graph->inputs().size(), std::size_t(5));
        QCOMPARE(readSampleInputs(*graph)->size(), std::size_t(5));
    }
    void inPlaceOperatorsAreReplaced()
    {
        const GraphPtr graph = opened("resnet18");
        QCOMPARE(countOriginals(*graph, "aten.relu_.default"), 17);
        QCOMPARE(countOriginals(*graph, "aten.add_.Tensor"), 8);
        for (const auto& node : graph->nodes())
            if (node->originalTarget == "aten.relu_.default") {
                QCOMPARE(node->target, std::string("aten.relu.default"));
                QVERIFY(node->opaqueReason.empty());
                QCOMPARE(node->scope.moduleClass, std::string("torch.nn.ReLU"));
            }
        const GraphPtr many = opened("in_place");
        for (const char* target : {"aten.copy_.default", "aten.fill_.Scalar", "aten.clamp_.default",
                                   "aten.masked_fill_.Scalar", "aten.dropout_.default"})
            QVERIFY2(countOriginals(*many, target) == 1, target);
        for (const auto& node : many->nodes())
            QVERIFY2(node->opaqueReason.empty(), node->name.c_str());
        const auto again = functionalize(*many);
        QVERIFY(again);
        QVERIFY(std::equal(again->nodes().begin(), again->nodes().end(), many->nodes().begin(),
                           many->nodes().end()));
    }
    void mutationThroughViewsIsOneOpaqueRegion()
    {
        const GraphPtr graph = opened("through_views");
        std::vector<const Node*> regions;
        for (const auto& node : graph->nodes())
            if (!node->opaqueReason.empty())
                regions.push_back(node.get());
        QCOMPARE(regions.size(), std::size_t(1));
        for (const Node* region : regions) {
            QVERIFY(region->target == "quantscope.region.default");
            QVERIFY(region->opaqueReason.find("view") != std::string::npos);
            QCOMPARE(region->subgraphs.size(), std::size_t(1));
            QVERIFY(region->source.line > 0);
        }
        // What only feeds the region stays outside, open to quantization.
        QVERIFY(find(*graph, "linear").opaqueReason.empty());
        // A slice without other readers is put back into its tensor.
        QCOMPARE(find(*graph, "select_scatter").target, std::string("aten.select_scatter.default"));
    }
    void whatWasPutIntoAPlaceIsReadDirectly()
    {
        // `rows[1:, ::2] += 5` takes two slices; none of them is taken again out of the new whole.
        const GraphPtr graph = opened("slices");
        QCOMPARE(
            std::count_if(graph->nodes().begin(), graph->nodes().end(),
                          [](const NodePtr& node) { return node->target == "aten.slice.Tensor"; }),
            2);
    }
    void whatAPlaceConvertsIsReadOutOfIt_data()
    {
        QTest::addColumn<int>("dtype");
        QTest::addColumn<int>("slices");
        QTest::newRow("same type") << int(DType::Float32) << 0;
        QTest::newRow("integers into floats") << int(DType::Int64) << 1;
        QTest::newRow("a type known only after a run") << int(DType::Unknown) << 1;
    }
    void whatAPlaceConvertsIsReadOutOfIt()
    {
        QFETCH(int, dtype);
        test::TinyGraph g;
        const ValueRef x = g.input("x", {4, 6}), put = g.input("put", {4, 2});
        const std::vector<NamedArgument> place {{"dim", 1}, {"start", 0}, {"end", 2}};
        const auto at = [&](std::vector<NamedArgument> args) {
            args.insert(args.end(), place.begin(), place.end());
            return args;
        };
        const ValueRef whole
            = g.op("aten.slice_scatter.default", at({{"input", x}, {"src", put}}), {4, 6});
        const ValueRef part = g.op("aten.slice.Tensor", at({{"input", whole}}), {4, 2});
        GraphEdit edit(*g.finish({g.op("aten.cos.default", {{"input", part}}, {4, 2})}));
        edit.change(put.node).outputs[0].type.dtype = DType(dtype);
        if (DType(dtype) == DType::Unknown)
            edit.change(part.node).outputs[0].type.dtype = DType::Unknown;
        const Graph graph = withoutReadBacks(edit.build());
        QTEST(int(std::count_if(
                  graph.nodes().begin(), graph.nodes().end(),
                  [](const NodePtr& node) { return node->target == "aten.slice.Tensor"; })),
              "slices");
    }
    void whatNobodyReadsOfAPlaceGoes()
    {
        test::TinyGraph g;
        const ValueRef x = g.input("x", {4, 6}), first = g.input("first", {4, 2}),
                       second = g.input("second", {4, 2});
        const auto put = [&](ValueRef whole, ValueRef part, int start) {
            return g.op(
                "aten.slice_scatter.default",
                {{"input", whole}, {"src", part}, {"dim", 1}, {"start", start}, {"end", start + 2}},
                {4, 6});
        };
        const ValueRef whole = put(put(x, first, 0), second, 2);
        const ValueRef part = g.op(
            "aten.slice.Tensor", {{"input", whole}, {"dim", 1}, {"start", 2}, {"end", 4}}, {4, 2});
        const GraphPtr graph = g.finish({g.op("aten.cos.default", {{"input", part}}, {4, 2})});
        const Graph direct = withoutReadBacks(*graph);
        for (const NodePtr& node : direct.nodes())
            QVERIFY2(!node->isOperator() || node->target == "aten.cos.default", node->name.c_str());
    }
    void runsLeaveWeightsAndInputsAlone()
    {
        for (const char* name : {"slices", "train", "through_views"}) {
            const GraphPtr graph = opened(name);
            const auto inputs = *readSampleInputs(*graph);
            std::vector<at::Tensor> before, now;
            const auto collect = [&](std::vector<at::Tensor>& into) {
                for (const auto& input : inputs)
                    into.push_back(input.toTensor().clone());
                for (const auto& node : graph->nodes())
                    if (node->tensor)
                        into.push_back(tensorsOf(*graph)->getTensor(node->tensor)->clone());
            };
            collect(before);
            const auto runner = Interpreter::create(graph);
            const auto first = runner->run(inputs), second = runner->run(inputs);
            QVERIFY(first && second);
            collect(now);
            for (std::size_t i = 0; i < before.size(); ++i)
                QVERIFY2(at::equal(before[i], now[i]), name);
            for (std::size_t i = 0; i < first->size(); ++i)
                QVERIFY2(at::equal((*first)[i].toTensor(), (*second)[i].toTensor()), name);
        }
    }
    void wrappersAreInlinedAndAssertionsLeftOut()
    {
        const GraphPtr graph = opened("no_grad");
        for (const auto& node : graph->nodes()) {
            QVERIFY2(node->subgraphs.empty(), node->name.c_str());
            QVERIFY2(node->target.find("_assert") == std::string::npos, node->name.c_str());
        }
        QVERIFY(graph->tryFind("softmax"));
        const GraphPtr lists = opened("lists");
        for (const auto& node : lists->nodes())
            QVERIFY2(node->target.find("_assert") == std::string::npos, node->name.c_str());
    }
    void controlFlowKeepsItsSubgraphs()
    {
        const GraphPtr graph = opened("branch");
        const Node& cond = find(*graph, "cond");
        QCOMPARE(cond.subgraphs.size(), std::size_t(2));
        QVERIFY(!cond.opaqueReason.empty());
    }
};

QTEST_GUILESS_MAIN(TestImportGraph)
#include "tst_import_graph.moc"
