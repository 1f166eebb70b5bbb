// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/repeated_modules.h"
#include "tests/engine/plan/graph_maker.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

/// How one layer of the network differs from the others.
struct Twist
{
    std::string act = "aten.relu.default";
    std::int64_t dim = 1;
    bool crossed = false; ///< reads its two inputs the other way round
    std::string moduleClass = "Layer";
    std::int64_t channels = 8;
};

class Net
{
public:
    ValueRef input(const std::string& name) { return m_maker.input(name); }
    ValueRef layer(const std::string& path, ValueRef x, ValueRef table, const Twist& twist = {})
    {
        m_maker.edit.modules().add(path, twist.moduleClass);
        const ValueRef q = linear(path + ".q", x, twist.channels);
        const ValueRef k = linear(path + ".k", x, twist.channels);
        const ValueRef mixed = m_maker.op(
            path + ".mix", "aten.mul.Tensor",
            {{"self", twist.crossed ? k : q}, {"other", twist.crossed ? q : k}}, path, "Layer");
        const ValueRef turned = m_maker.op(path + ".rope", "aten.add.Tensor",
                                           {{"self", mixed}, {"other", table}}, path, "Layer");
        const ValueRef out = m_maker.op(
            path + ".out", "aten.cat.default",
            {{"tensors", Argument::List {turned, x}}, {"dim", twist.dim}}, path, "Layer");
        return m_maker.op(path + ".act", twist.act, {{"self", out}}, path + ".act",
                          "torch.nn.ReLU");
    }
    Graph finish(ValueRef x) { return m_maker.finish({x}); }

private:
    ValueRef linear(const std::string& path, ValueRef x, std::int64_t channels)
    {
        const ValueRef weight = m_maker.parameter(path + ".weight");
        m_maker.edit.change(weight.node).outputs[0].type.shape = {Dim::fixed(channels)};
        return m_maker.op(path, "aten.linear.default", {{"input", x}, {"weight", weight}}, path,
                          "torch.nn.Linear");
    }
    GraphMaker m_maker;
};

QStringList toList(std::span<const std::string> paths)
{
    QStringList out;
    for (const auto& path : paths)
        out << QString::fromStdString(path);
    return out;
}

} // namespace

class TestRepeatedModules : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void equalLayersAreOneGroup()
    {
        Net net;
        ValueRef x = net.input("x");
        const ValueRef table = net.input("table");
        for (const char* path : {"layers.0", "layers.1", "layers.2"})
            x = net.layer(path, x, table);
        const auto found = RepeatedModules::find(net.finish(x));
        const QStringList layers {"layers.0", "layers.1", "layers.2"};
        QCOMPARE(toList(found->of("layers.1")), layers);
        // Leaves that are alike are one group; the place in the layer distinguishes them.
        QCOMPARE(found->of("layers.0.q").size(), std::size_t(6));
        const QStringList queries {"layers.0.q", "layers.1.q", "layers.2.q"};
        QCOMPARE(toList(found->inPlace("layers.2.q")), queries);
        QVERIFY(found->of("layers").empty());
        QVERIFY(found->of("nowhere").empty());
        QCOMPARE(found->groups().size(), std::size_t(3)); // layers, linears, activations
        QCOMPARE(toList(found->groups()[1]), layers); // the linears come first in the graph
    }

    void whatDiffersIsNotRepeated_data()
    {
        QTest::addColumn<int>("which");
        QTest::addColumn<bool>("same");
        QTest::newRow("operator") << 0 << false;
        QTest::newRow("literal") << 1 << false;
        QTest::newRow("wiring") << 2 << false;
        QTest::newRow("class") << 3 << false;
        QTest::newRow("sizes only") << 4 << true;
    }
    void whatDiffersIsNotRepeated()
    {
        QFETCH(int, which);
        QFETCH(bool, same);
        const std::vector<Twist> twists {{.act = "aten.gelu.default"},
                                         {.dim = 2},
                                         {.crossed = true},
                                         {.moduleClass = "OtherLayer"},
                                         {.channels = 16}};
        Net net;
        const ValueRef table = net.input("table");
        ValueRef x = net.layer("first", net.input("x"), table);
        x = net.layer("second", x, table, twists[std::size_t(which)]);
        const auto found = RepeatedModules::find(net.finish(x));
        QCOMPARE(found->of("first").size(), std::size_t(same ? 2 : 0));
        QVERIFY(found->inPlace("first").empty()); // the names differ by more than a number
    }

    void sharedAndOwnInputsAreToldApart()
    {
        // One layer is given its own input as the table: it reads one value, not two.
        Net net;
        const ValueRef table = net.input("table");
        ValueRef x = net.layer("layers.0", net.input("x"), table);
        x = net.layer("layers.1", x, table);
        x = net.layer("layers.2", x, x);
        const auto found = RepeatedModules::find(net.finish(x));
        QCOMPARE(found->of("layers.0").size(), std::size_t(2));
        QVERIFY(found->of("layers.2").empty());
    }
};

QTEST_GUILESS_MAIN(TestRepeatedModules)
#include "tst_repeated_modules.moc"
