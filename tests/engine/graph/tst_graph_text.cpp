// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/code/code_printer.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/graph_verifier.h"
#include "engine/graph/text/graph_parser.h"
#include "engine/graph/text/graph_printer.h"

#include <QtTest/QtTest>

#include <limits>

using namespace qs;

namespace {

/// A node with one argument of every kind, names that need quoting, a subgraph, symbolic sizes.
Graph everything()
{
    GraphEdit edit;
    edit.modules().add("layer.0", "torch.nn.Conv2d");
    edit.modules().addParameter("layer.0.weight");
    ModelInfo info;
    info.name = "a \"quoted\" name\n";
    info.format = "text";
    info.inputTree = "[1, {}]";
    info.converted = true;
    edit.setInfo(info);
    Node x;
    x.kind = NodeKind::Input;
    x.name = "x y";
    ValueType type;
    type.dtype = DType::Float32;
    type.shapeKnown = true;
    type.shape = {Dim {2, "s77", "Symbol('s77', positive=True)"}, Dim::fixed(3), Dim {}};
    type.device = {"cuda", 1};
    x.outputs.push_back({"", type});
    const NodeId input = edit.insert(x);
    Node weight;
    weight.kind = NodeKind::Parameter;
    weight.name = "w";
    weight.target = "layer.0.weight";
    weight.tensor = TensorId(7);
    weight.isBuffer = weight.persistentBuffer = true;
    weight.outputs.push_back({"", {}});
    const NodeId w = edit.insert(weight);
    GraphEdit inner;
    Node out;
    out.kind = NodeKind::Output;
    out.name = "output";
    inner.insert(out);
    Node op;
    op.name = "op";
    op.target = "aten.many.default";
    const double inf = std::numeric_limits<double>::infinity();
    op.args = {{"self", ValueRef {input, 0}},
               {"", ValueRef {w, 0}},
               {"list", Argument::List {1, Argument(), ValueRef {input, 0}, Argument::List {}}},
               {"d", 0.1},
               {"e", -inf},
               {"big", 1e300},
               {"whole", 2.0},
               {"b", true},
               {"s", "tab\t\x01\"\\"},
               {"dtype", DType::QUInt8},
               {"device", Device {"cuda", 0}},
               {"layout", LayoutTag {"strided"}},
               {"format", MemoryFormatTag {"channels_last"}},
               {"c", ComplexNumber {1.5, -2}}};
    ValueType symbol, custom;
    symbol.kind = ValueKind::SymInt;
    symbol.expression = "Mul(2, s0)";
    custom.kind = ValueKind::Custom;
    custom.className = "Conv2dPackedParamsBase";
    op.outputs = {{"first", {}}, {"second", symbol}, {"third", custom}};
    op.scope = {"layer.0", "torch.nn.Conv2d", 2};
    op.source = {"a/b \"c\".py", 12, "forward", "x = f(\"y\")"};
    op.originalTarget = "aten.many_.default";
    op.torchFn = "function.many";
    op.observer = ObserverId(3);
    op.origin = NodeId(1);
    op.opaqueReason = "it is unknown";
    op.argumentStrings = {"{\"as_int\": 1}", "b"};
    op.subgraphs.push_back(std::make_shared<const Graph>(inner.build()));
    const NodeId id = edit.insert(op);
    out.args = {{"", ValueRef {id, 1}}, {"", 3}};
    edit.insert(out);
    return edit.build();
}

void compareNodes(const Node& a, const Node& b)
{
    QCOMPARE(a.id.value(), b.id.value());
    QVERIFY(a.kind == b.kind);
    QCOMPARE(a.name, b.name);
    QCOMPARE(a.target, b.target);
    QVERIFY(a.args == b.args);
    QVERIFY(a.outputs == b.outputs);
    QVERIFY(a.scope == b.scope);
    QVERIFY(a.source == b.source);
    QVERIFY(a.origin == b.origin);
    QCOMPARE(a.originalTarget, b.originalTarget);
    QCOMPARE(a.torchFn, b.torchFn);
    QVERIFY(a.tensor == b.tensor);
    QCOMPARE(a.isBuffer, b.isBuffer);
    QCOMPARE(a.persistentBuffer, b.persistentBuffer);
    QVERIFY(a.observer == b.observer);
    QCOMPARE(a.opaqueReason, b.opaqueReason);
    QVERIFY(a.argumentStrings == b.argumentStrings);
    QCOMPARE(a.subgraphs.size(), b.subgraphs.size());
}

} // namespace

class TestGraphText : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void everyKindOfFactSurvives()
    {
        const Graph graph = everything();
        const std::string text = printGraph(graph);
        const auto read = parseGraph(text);
        QVERIFY2(read, read ? "" : read.error().line().c_str());
        QCOMPARE(printGraph(*read), text);
        QCOMPARE(read->nodes().size(), graph.nodes().size());
        for (std::size_t i = 0; i < graph.nodes().size(); ++i)
            compareNodes(*graph.nodes()[i], *read->nodes()[i]);
        QCOMPARE(read->info().name, graph.info().name);
        QCOMPARE(read->info().inputTree, graph.info().inputTree);
        QVERIFY(read->info().converted);
        QCOMPARE(read->modules().size(), graph.modules().size());
        QCOMPARE(read->modules().tryGet("layer.0")->parameters.size(), std::size_t(1));
        QCOMPARE(read->parts().nextId, graph.parts().nextId);
    }
    void errorsNameTheLine_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("wanted");
        QTest::newRow("reference") << QByteArray("\n%a #1 = op \"t\" (x=%b) -> ()\n")
                                   << QByteArray("line 2: no earlier node makes '%b'");
        QTest::newRow("kind") << QByteArray("%a #1 = thing \"t\" () -> ()\n")
                              << QByteArray("line 1: there is no node kind 'thing'");
        QTest::newRow("open list") << QByteArray("%a #1 = op \"t\" (x=[1, 2) -> ()\n")
                                   << QByteArray("line 1: a ] is missing");
        QTest::newRow("open string")
            << QByteArray("%a #1 = op \"t () -> ()\n") << QByteArray("line 1: a node reads");
        QTest::newRow("fact") << QByteArray("%a #1 = op \"t\" () -> () colour=\"red\"\n")
                              << QByteArray("line 1: a node has no 'colour'");
        QTest::newRow("foreign") << QByteArray("hello\n") << QByteArray("line 1: a graph, module");
        QTest::newRow("endless lists") << "%a #1 = op \"t\" (x=" + QByteArray(100000, '[')
                                       << QByteArray("line 1: lists are nested too deeply");
    }
    void errorsNameTheLine()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, wanted);
        const auto read = parseGraph(text.toStdString());
        QVERIFY(!read);
        QVERIFY2(read.error().message.starts_with(wanted.toStdString()),
                 read.error().message.c_str());
    }
    void codeReadsAsFxPrintsIt()
    {
        GraphEdit edit;
        Node x;
        x.kind = NodeKind::Input;
        x.name = "x";
        x.outputs.push_back({"", {}});
        const NodeId input = edit.insert(x);
        Node weight;
        weight.kind = NodeKind::Parameter;
        weight.name = "p_layer_0_weight";
        weight.target = "layer.0.weight";
        weight.outputs.push_back({"", {}});
        const NodeId w = edit.insert(weight);
        Node op;
        op.name = "conv2d";
        op.target = "aten.conv2d.default";
        op.args = {{"input", ValueRef {input, 0}},
                   {"weight", ValueRef {w, 0}},
                   {"bias", Argument()},
                   {"stride", Argument::List {2, 2}}};
        op.outputs.push_back({"", {}});
        const NodeId conv = edit.insert(op);
        Node out;
        out.kind = NodeKind::Output;
        out.name = "output";
        out.args = {{"", ValueRef {conv, 0}}};
        edit.insert(out);
        QCOMPARE(printCode(edit.build()),
                 std::string("GraphModule()\n"
                             "\n"
                             "def forward(self, x):\n"
                             "    layer_0_weight = getattr(self.layer, \"0\").weight\n"
                             "    conv2d = torch.ops.aten.conv2d.default(x, layer_0_weight, "
                             "None, stride = [2, 2]);  x = layer_0_weight = None\n"
                             "    return conv2d\n"));
    }
    void tuplesReadAsFxPrintsThem()
    {
        const auto graph
            = parseGraph("%a #1 = input \"a\" () -> (a: float32[2])\n"
                         "%t #2 = op \"builtins.tuple\" (iterable=[%a, [%a, 1]]) -> (t: Tuple)\n"
                         "%g #3 = op \"operator.getitem\" (a=%t, b=-2) -> (g: float32[2])\n"
                         "%output #4 = output \"\" (\"\"=%g) -> ()\n");
        QVERIFY2(graph, graph ? "" : graph.error().line().c_str());
        QCOMPARE(printCode(*graph),
                 std::string("GraphModule()\n"
                             "\n"
                             "def forward(self, a):\n"
                             "    tuple_1 = tuple([a, [a, 1]]);  a = None\n"
                             "    getitem = tuple_1[-2];  tuple_1 = None\n"
                             "    return getitem\n"));
    }
    void bodiesStandAsFunctionsBeforeTheirCall()
    {
        const auto graph = parseGraph(
            "%x #1 = input \"x\" () -> (x: float32[2])\n"
            "%cond #2 = op \"higher_order.cond\" (\"\"=%x, \"\"=\"subgraph:0\", "
            "\"\"=\"subgraph:1\", \"\"=[%x]) -> (cond: float32[2])\n"
            "subgraph\n"
            "  %a #1 = input \"a\" () -> (a: float32[2])\n"
            "  %loop #2 = op \"prim.Loop.default\" (\"\"=%a, \"\"=\"subgraph:0\") -> (loop: "
            "float32[2])\n"
            "  subgraph\n"
            "    %b #1 = input \"b\" () -> (b: float32[2])\n"
            "    %output #2 = output \"\" (\"\"=%b) -> ()\n"
            "  end\n"
            "  %output #3 = output \"\" (\"\"=%loop) -> ()\n"
            "end\n"
            "subgraph\n"
            "  %one #1 = op \"aten.ones.default\" (size=[2]) -> (one: float32[2])\n"
            "  %output #2 = output \"\" (\"\"=%one) -> ()\n"
            "end\n"
            "%output #3 = output \"\" (\"\"=%cond) -> ()\n");
        QVERIFY2(graph, graph ? "" : graph.error().line().c_str());
        const auto lines = codeLines(*graph);
        std::string text;
        for (const CodeLine& line : lines)
            text += line.text + "\n";
        QCOMPARE(QByteArray::fromStdString(text),
                 QByteArray("GraphModule()\n"
                            "\n"
                            "def forward(self, x):\n"
                            "    def cond_if_true(a):\n"
                            "        def Loop_do(b):\n"
                            "            return b\n"
                            "        Loop = torch.ops.prim.Loop.default(a, Loop_do);  a = None\n"
                            "        return Loop\n"
                            "    def cond_otherwise():\n"
                            "        ones = torch.ops.aten.ones.default(size = [2])\n"
                            "        return ones\n"
                            "    cond = torch.ops.higher_order.cond(x, cond_if_true, "
                            "cond_otherwise, [x]);  x = None\n"
                            "    return cond\n"));
        for (std::size_t i = 3; i < lines.size() - 1; ++i) // a body's lines lead to its node
            QVERIFY(lines[i].nodes == std::vector<NodeId> {NodeId(2)});
    }
    void verifierFindsWhatItIsFor_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("node");
        const QByteArray end = "%output #9 = output \"\" () -> ()\n";
        QTest::newRow("id twice") << "%a #1 = op \"t\" () -> ()\n%b #1 = op \"t\" () -> ()\n" + end
                                  << QByteArray("b");
        QTest::newRow("name twice")
            << "%a #1 = op \"t\" () -> ()\n%a #2 = op \"t\" () -> ()\n" + end << QByteArray("a");
        QTest::newRow("value twice") << "%a #1 = op \"t\" () -> (v: SymInt)\n"
                                        "%b #2 = op \"t\" () -> (v: SymInt)\n"
                + end << QByteArray("b");
        QTest::newRow("in place") << "%a #1 = op \"aten.relu_.default\" () -> ()\n" + end
                                  << QByteArray("a");
        QTest::newRow("after the output") << end + "%a #1 = op \"t\" () -> ()\n" << QByteArray("a");
        QTest::newRow("no output") << QByteArray("%a #1 = op \"t\" () -> ()\n") << QByteArray("");
    }
    void verifierFindsWhatItIsFor()
    {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, node);
        const auto graph = parseGraph(text.toStdString());
        QVERIFY2(graph, graph ? "" : graph.error().line().c_str());
        const auto sound = verifyGraph(*graph);
        QVERIFY(!sound);
        QCOMPARE(sound.error().node, node.toStdString());
        QVERIFY(verifyGraph(everything()));
    }
};

QTEST_GUILESS_MAIN(TestGraphText)
#include "tst_graph_text.moc"
