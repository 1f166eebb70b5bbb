// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/graph_edit.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

Node op(const std::string& name, const std::string& target, const std::vector<ValueRef>& refs)
{
    Node node;
    node.name = name;
    node.target = target;
    for (std::size_t i = 0; i < refs.size(); ++i)
        node.args.push_back({"a" + std::to_string(i), refs[i]});
    node.outputs.push_back({"", {}});
    return node;
}

// x -> relu -> (relu, x) -> add -> output
struct Sample
{
    GraphEdit edit;
    NodeId x, relu, add, output;
    Sample()
    {
        Node input;
        input.kind = NodeKind::Input;
        input.name = "x";
        input.outputs.push_back({"", {}});
        x = edit.insert(input);
        relu = edit.insert(op("relu", "aten.relu.default", {{x, 0}}));
        add = edit.insert(op("add", "aten.add.Tensor", {{relu, 0}, {x, 0}}));
        Node out;
        out.kind = NodeKind::Output;
        out.name = "output";
        out.args.push_back({"", Argument::List {ValueRef {add, 0}}});
        output = edit.insert(out);
    }
};

// An argument is made of what it can hold, not of what C++ would turn into that: a pointer into
// true, a fraction into a whole number.
template<class T>
constexpr bool isArgument = std::is_constructible_v<Argument, T>;
static_assert(
    isArgument<int> && isArgument<std::int64_t> && isArgument<double> && isArgument<bool>);
static_assert(isArgument<const char*> && isArgument<std::string> && isArgument<ValueRef>);
static_assert(isArgument<Argument::List> && isArgument<DType> && isArgument<std::monostate>);
static_assert(!isArgument<void*> && !isArgument<float*> && !isArgument<std::nullptr_t>);
static_assert(!isArgument<std::vector<int>> && !isArgument<std::vector<bool>::reference>);
static_assert(!isArgument<float> && !isArgument<unsigned> && !isArgument<char>);

} // namespace

class TestGraphEdit : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void buildsInOrder()
    {
        Sample s;
        const Graph g = s.edit.build();
        QCOMPARE(g.nodes().size(), std::size_t(4));
        QCOMPARE(g.users({s.x, 0}).size(), std::size_t(2));
        QCOMPARE(g.output().id, s.output);
        QCOMPARE(QString::fromStdString(g.value({s.relu, 0}).name), "relu");
    }
    void argumentsAreWhatTheyAreMadeOf()
    {
        QVERIFY(Argument(true).asBool() && Argument(1).asInt() && Argument(1.0).asDouble());
        QVERIFY(Argument("1").asString() && Argument(Argument::List {1, 0.5, false}).asList());
    }
    void insertsBeforeOutputAndRenames()
    {
        Sample s;
        const NodeId second = s.edit.insert(op("relu", "aten.relu.default", {{s.add, 0}}));
        s.edit.replaceUses({s.add, 0}, {second, 0}, {second});
        const Graph g = s.edit.build();
        QCOMPARE(QString::fromStdString(g.get(second).name), "relu_1");
        QCOMPARE(g.users({s.add, 0}).size(), std::size_t(1));
        QCOMPARE(g.users({second, 0})[0].node, s.output);
    }
    void leavesTheSourceAlone()
    {
        Sample s;
        const Graph before = s.edit.build();
        GraphEdit second(before);
        second.replaceArgument(s.add, 1, {s.x, 0}, {s.relu, 0});
        second.change(s.relu).target = "aten.gelu.default";
        const Graph after = second.build();
        QCOMPARE(QString::fromStdString(before.get(s.relu).target), "aten.relu.default");
        QCOMPARE(QString::fromStdString(after.get(s.relu).target), "aten.gelu.default");
        QCOMPARE(before.users({s.x, 0}).size(), std::size_t(2));
        QCOMPARE(after.users({s.x, 0}).size(), std::size_t(1));
        QVERIFY(before.parts().nodes[0] == after.parts().nodes[0]); // untouched nodes are shared
    }
    void erasesDeadNodes()
    {
        Sample s;
        s.edit.replaceUses({s.add, 0}, {s.x, 0});
        s.edit.eraseDead();
        const Graph g = s.edit.build();
        QCOMPARE(g.nodes().size(), std::size_t(2));
    }
    void renameMovesTheValueToo()
    {
        Sample s;
        s.edit.rename(s.relu, "act");
        const Graph g = s.edit.build();
        QVERIFY(g.tryFind("act"));
        QVERIFY(!g.tryFind("relu"));
        QCOMPARE(QString::fromStdString(g.value({s.relu, 0}).name), "act");
    }
};

QTEST_GUILESS_MAIN(TestGraphEdit)
#include "tst_graph_edit.moc"
