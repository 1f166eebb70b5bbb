// SPDX-License-Identifier: Apache-2.0
#include "engine/base/log.h"
#include "engine/configure/extension_packs.h"
#include "engine/custom_modules/gather_modules.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/text/graph_parser.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

using namespace qs;

namespace {

constexpr const char* kIn = "scope=\"unit\" class=\"my.Unit\"";

QStringList& warnings()
{
    static QStringList lines;
    return lines;
}

GraphPtr parsed(const std::string& text, const std::vector<at::Tensor>& tensors = {})
{
    auto graph = parseGraph(text);
    if (!graph)
        qFatal("%s", graph.error().line().c_str());
    GraphEdit edit(*graph);
    edit.setTensors(std::make_shared<TensorStore>());
    for (const at::Tensor& tensor : tensors)
        tensorsOf(edit)->add(tensor);
    for (const NodeId id : edit.order())
        if (const Node& node = edit.get(id); !node.scope.path.empty())
            edit.modules().add(node.scope.path, node.scope.moduleClass);
    return std::make_shared<const Graph>(edit.build());
}

GraphPtr gathered(const GraphPtr& graph)
{
    auto made = gatherModules(graph);
    if (!made)
        qFatal("%s", made.error().line().c_str());
    return *made;
}

std::vector<const Node*> wholes(const Graph& graph)
{
    std::vector<const Node*> found;
    for (const NodePtr& node : graph.nodes())
        if (node->isOp(kModuleTarget))
            found.push_back(node.get());
    return found;
}

void sameResults(const GraphPtr& a, const GraphPtr& b, const std::vector<at::IValue>& inputs)
{
    const auto wanted = Interpreter::create(a)->run(inputs),
               made = Interpreter::create(b)->run(inputs);
    QVERIFY2(made, made ? "" : made.error().line().c_str());
    QCOMPARE(made->size(), wanted->size());
    for (std::size_t i = 0; i < wanted->size(); ++i)
        QVERIFY(at::equal((*made)[i].toTensor(), (*wanted)[i].toTensor()));
}

std::string op(const char* name, int id, const char* target, const std::string& args,
               const std::string& where = {})
{
    return std::string("%") + name + " #" + std::to_string(id) + " = op \"" + target + "\" (" + args
        + ") -> (" + name + ": float32[2, 3]) " + where + "\n";
}

const std::string kX
    = "graph name=\"t\" format=\"text\" producer=\"\" sha256=\"\" inputs=\"\" outputs=\"\" "
      "converted=0 next=100\n%x #1 = input \"x\" () -> (x: float32[2, 3])\n";

} // namespace

class TestGatherModules : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        setLogSink(
            [](LogLevel, const std::string& text) { warnings() << QString::fromStdString(text); });
        auto pack = std::make_shared<ExtensionPack>();
        pack->name = "test";
        PackModuleSpec spec;
        spec.floatClass = "my.Unit";
        spec.kernels[QuantizationMode::Static] = {"my::unit", {}};
        pack->modules = {spec};
        addLoadedPack(pack);
    }
    void init() { warnings().clear(); }

    void aGraphWithoutThemIsItself()
    {
        const GraphPtr graph = parsed(kX + op("a", 2, "aten.relu.default", "self=%x")
                                      + "%output #9 = output \"\" (\"\"=%a) -> ()\n");
        QCOMPARE(gathered(graph), graph);
    }
    void oneCallIsOneNode()
    {
        const GraphPtr graph = parsed(
            kX
                + "%p_unit_linear_weight #2 = parameter \"unit.linear.weight\" () -> "
                  "(p_unit_linear_weight: float32[3, 3]) tensor=1\n"
                + op("a", 3, "aten.relu.default", "self=%x")
                + op("b", 4, "aten.linear.default", "input=%a, weight=%p_unit_linear_weight",
                     "scope=\"unit.linear\" class=\"torch.nn.Linear\"")
                + op("c", 5, "aten.tanh.default", "self=%b", kIn)
                + op("d", 6, "aten.mul.Tensor", "self=%c, other=%x", kIn)
                + "%output #9 = output \"\" (\"\"=%d) -> ()\n",
            {at::arange(9.F).reshape({3, 3})});
        const GraphPtr made = gathered(graph);
        const auto found = wholes(*made);
        QCOMPARE(found.size(), std::size_t(1));
        QCOMPARE(found[0]->name, std::string("unit"));
        QCOMPARE(found[0]->scope.moduleClass, std::string("my.Unit"));
        const GatheredArguments read(*found[0]);
        QCOMPARE(read.inputs.size(), std::size_t(2)); // in the order in which they are first read
        QCOMPARE(made->get(read.inputs[0].node).name, std::string("a"));
        QCOMPARE(made->get(read.inputs[1].node).name, std::string("x"));
        QCOMPARE(read.parameterNames, std::vector<std::string> {"linear.weight"});
        QCOMPARE(int(found[0]->subgraphs.at(0)->inputs().size()), 3);
        sameResults(graph, made, {at::randn({2, 3})});
        QCOMPARE(gathered(made), made); // once is enough
        QVERIFY(warnings().isEmpty());
    }
    void eachCallIsANodeOfItsOwn()
    {
        const std::string second = std::string(kIn) + " call=1";
        const GraphPtr graph = parsed(kX + op("a", 2, "aten.relu.default", "self=%x", kIn)
                                      + op("b", 3, "aten.tanh.default", "self=%a", kIn)
                                      + op("c", 4, "aten.relu.default", "self=%b", second)
                                      + op("d", 5, "aten.tanh.default", "self=%c", second)
                                      + "%output #9 = output \"\" (\"\"=%d, \"\"=%b) -> ()\n");
        const GraphPtr made = gathered(graph);
        QCOMPARE(wholes(*made).size(), std::size_t(2));
        QCOMPARE(wholes(*made)[1]->scope.callIndex, 1);
        sameResults(graph, made, {at::randn({2, 3})});
    }
    void aReaderInBetweenComesAfter()
    {
        const GraphPtr graph = parsed(kX + op("a", 2, "aten.relu.default", "self=%x", kIn)
                                      + op("between", 3, "aten.neg.default", "self=%a")
                                      + op("b", 4, "aten.tanh.default", "self=%a", kIn)
                                      + op("c", 5, "aten.add.Tensor", "self=%b, other=%between")
                                      + "%output #9 = output \"\" (\"\"=%c) -> ()\n");
        const GraphPtr made = gathered(graph);
        QCOMPARE(wholes(*made).size(), std::size_t(1));
        QCOMPARE(wholes(*made)[0]->outputs.size(), std::size_t(2));
        sameResults(graph, made, {at::randn({2, 3})});
    }
    void whatComesBackIntoItStays()
    {
        const GraphPtr graph = parsed(kX + op("a", 2, "aten.relu.default", "self=%x", kIn)
                                      + op("outside", 3, "aten.neg.default", "self=%a")
                                      + op("b", 4, "aten.tanh.default", "self=%outside", kIn)
                                      + "%output #9 = output \"\" (\"\"=%b) -> ()\n");
        QCOMPARE(gathered(graph), graph);
        QCOMPARE(warnings().size(), 1);
        QVERIFY2(warnings()[0].contains("comes back into it"), qPrintable(warnings()[0]));
    }
};

QTEST_GUILESS_MAIN(TestGatherModules)
#include "tst_gather_modules.moc"
