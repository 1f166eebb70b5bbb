// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/match/pattern_match.h"
#include "engine/graph/text/graph_parser.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

/// relu(x) * 2 is read twice, by a product with x and by a sum with itself.
const char* const kGraph = R"(
%x #1 = input "x" () -> (x: float32[2])
%relu #2 = op "aten.relu.default" (self=%x) -> (relu: float32[2])
%twice #3 = op "aten.mul.Tensor" (self=%relu, other=2.0) -> (twice: float32[2])
%mixed #4 = op "aten.mul.Tensor" (self=%twice, other=%x) -> (mixed: float32[2])
%sum #5 = op "aten.add.Tensor" (self=%twice, other=%twice) -> (sum: float32[2])
%output #6 = output "" (""=[%mixed, %sum]) -> ()
)";

class PlainView : public PatternView
{
public:
    explicit PlainView(std::string_view text)
        : m_graph(parseGraph(text).value())
    {
    }
    const Node* tryGet(NodeId id) const override { return m_graph.tryGet(id); }
    NodeId id(const char* name) const { return m_graph.tryFind(name)->id; }

private:
    Graph m_graph;
};

class CountingView final : public PlainView
{
public:
    using PlainView::PlainView;
    std::size_t readers(NodeId of) const override { return of == id("twice") ? 2 : 1; }
};

GraphPattern pattern(const char* text)
{
    auto read = parsePattern(text);
    if (!read)
        qFatal("%s", read.error().line().c_str());
    return *read;
}

} // namespace

class TestGraphPattern : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void fitsBackwards_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("last");
        QTest::addColumn<int>("operators"); // 0: it does not fit
        const auto row = [](const char* what, const char* last, int operators, const char* text) {
            QTest::newRow(what) << QString(text) << QString(last) << operators;
        };
        row("one operator", "relu", 1, R"(op "aten.relu.default" ())");
        row("another operator", "mixed", 0, R"(op "aten.relu.default" ())");
        row("one of two", "relu", 1, R"(op "aten.relu6.default|aten.relu.default" ())");
        row("a chain", "mixed", 3, R"(
            %r = op "aten.relu.default" (self=%x)
            %t = op "aten.mul.Tensor" (self=%r, other=2)
            op "aten.mul.Tensor" (self=%t, other=%x))");
        row("another number", "twice", 0, R"(op "aten.mul.Tensor" (other=3))");
        row("a name for two values", "mixed", 0, R"(op "aten.mul.Tensor" (self=%a, other=%a))");
        row("a name for one value", "sum", 1, R"(op "aten.add.Tensor" (self=%a, other=%a))");
        row("one operator read twice", "sum", 2, R"(
            %t = op "aten.mul.Tensor" ()
            op "aten.add.Tensor" (self=%t, other=%t))");
        row("two operators asked for, one there", "mixed", 0, R"(
            %t = op "aten.mul.Tensor" ()
            %r = op "aten.relu.default" ()
            op "aten.mul.Tensor" (self=%t, other=%r))");
        row("an argument that is not there", "relu", 0, R"(op "aten.relu.default" (alpha=1))");
        row("a name for what is not there", "relu", 0, R"(op "aten.relu.default" (alpha=%a))");
        row("a name for what may be absent", "relu", 1, R"(op "aten.relu.default" (alpha=%a?))");
        row("an operator for a constant", "twice", 0, R"(
            %t = op "aten.mul.Tensor" ()
            op "aten.mul.Tensor" (other=%t))");
    }
    void fitsBackwards()
    {
        QFETCH(QString, text);
        QFETCH(QString, last);
        QFETCH(int, operators);
        const PlainView view(kGraph);
        const auto found = matchPattern(view, pattern(text.toUtf8().constData()),
                                        view.id(last.toUtf8().constData()));
        QCOMPARE(found ? int(found->nodes.size()) : 0, operators);
    }

    void namesStandForWhatFlowsIn()
    {
        const PlainView view(kGraph);
        const auto found = matchPattern(view, pattern(R"(
            %r = op "aten.relu.default" (self=%from)
            op "aten.mul.Tensor" (self=%r, other=%factor))"),
                                        view.id("twice"));
        QVERIFY(found);
        QVERIFY(found->nodes == std::vector({view.id("relu"), view.id("twice")}));
        QCOMPARE(found->values.size(), std::size_t(2)); // not the operator inside
        QVERIFY(*found->tryGet("from") == Argument(ValueRef {view.id("x"), 0}));
        QVERIFY(*found->tryGet("factor") == Argument(2.0));
        QVERIFY(!found->tryGet("r"));
        const auto made = found->arguments(
            pattern(R"(op "my.op.default" (input=%from, scale=%factor, bias=%bias, train=False))"));
        const std::vector<NamedArgument> wanted {
            {"input", ValueRef {view.id("x"), 0}}, {"scale", 2.0}, {"train", false}};
        QVERIFY(made == wanted);
    }

    /// Chains of targets, as backends and lowering tables write them.
    void whatFlowsInByPlace()
    {
        const CountingView view(kGraph);
        const GraphPattern chain = chainPattern({"aten.relu.default", "aten.mul.Tensor"});
        QCOMPARE(chain.size(), std::size_t(2));
        const auto found = matchPattern(view, chain, view.id("twice"));
        QVERIFY(found && !found->crowded && found->open.empty());
        QVERIFY(!matchPattern(view, chain, view.id("mixed"))); // two flow in
        GraphPattern product;
        product.targets = {"aten.mul.Tensor"};
        product.inputs = {chain, GraphPattern()};
        const auto open = matchPattern(view, product, view.id("mixed"));
        QVERIFY(open);
        QVERIFY(open->nodes == std::vector({view.id("relu"), view.id("twice"), view.id("mixed")}));
        QVERIFY(open->open == std::vector({Use {view.id("mixed"), 1}}));
        QVERIFY(open->crowded == view.id("twice")); // noted, not refused
        QCOMPARE(open->readers, std::size_t(2));
    }

    void whatIsNoPattern_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("error");
        QTest::newRow("nothing") << ""
                                 << "a pattern has an operator";
        QTest::newRow("no kind") << "%a = \"aten.relu.default\" ()"
                                 << "line 1: an operator reads: %name = op \"target\" (arguments)";
        QTest::newRow("no end") << "\nop \"aten.relu.default\" (self=%x"
                                << "line 2: a ) is missing after the arguments";
        QTest::newRow("no value") << "op \"aten.relu.default\" (self=what)"
                                  << "line 1: 'what' is not a value";
        QTest::newRow("results") << "op \"aten.relu.default\" () -> (y: float32[2])"
                                 << "line 1: the line continues after its operator";
    }
    void whatIsNoPattern()
    {
        QFETCH(QString, text);
        QFETCH(QString, error);
        const auto read = parsePattern(text.toStdString());
        QVERIFY(!read);
        QCOMPARE(QString::fromStdString(read.error().message), error);
    }
};

QTEST_GUILESS_MAIN(TestGraphPattern)
#include "tst_graph_pattern.moc"
