// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/cures/channel_chain.h"
#include "engine/edit/cures/model_cures.h"
#include "tests/support/tiny_graph.h"

#include <QtTest>

using namespace qs;
using test::TinyGraph;

namespace {

/// An input that a linear and an addition read; the addition is read by two linears.
struct Model
{
    ValueRef x, first, sum, left, right;
    GraphPtr graph;

    Model()
    {
        TinyGraph made;
        x = made.input("x", {5, 4});
        const auto linear = [&](const char* name, ValueRef from) {
            return made.op("aten.linear.default",
                           {{"input", from}, {"weight", made.parameter(name, at::randn({4, 4}))}},
                           {5, 4});
        };
        first = linear("first", x);
        sum = made.op("aten.add.Tensor", {{"self", first}, {"other", x}}, {5, 4});
        left = linear("left", sum);
        right = linear("right", sum);
        graph = made.finish({left, right});
    }
    EditedModelPtr edited() const { return *editModel(graph, {}); }
};

Cure smoothing(const EditedModelPtr& edited, ValueRef value)
{
    Cure cure;
    cure.kind = CureKind::Smooth;
    cure.at = edited->addresses->of(value);
    cure.scales = {1, 2, 4, 0.5};
    return cure;
}

} // namespace

/// Where the cure `smooth` adds a multiplication, and what it makes.
class TestScaledValues : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void aSumIsMultipliedForItsLayers()
    {
        const Model model;
        const auto chain = dividedChain(GraphEdit(*model.graph), model.sum);
        QVERIFY2(chain.has_value(), chain ? "" : chain.error().line().c_str());
        QVERIFY(chain->multiplied == model.sum && !chain->maker);
        QCOMPARE(chain->readers.size(), std::size_t(2));
        QCOMPARE(chain->channels, std::int64_t(4));
        QVERIFY(!dividedChain(GraphEdit(*model.graph), model.first)); // only an addition reads it
    }
    void theProductHasAnAddress()
    {
        const Model model;
        const EditedModelPtr edited = model.edited();
        const Cure cure = smoothing(edited, model.x);
        QVERIFY(cure.at.kind == ValueAddress::Kind::Input);
        const auto cured = withModelCures(edited, {cure});
        QVERIFY(cured.has_value() && (*cured)->cures.at(0).problem.empty());
        ValueAddress added;
        added.kind = ValueAddress::Kind::Added;
        added.name = "x_scaled";
        const auto product = (*cured)->addresses->find(added);
        QVERIFY(product.has_value());
        const Graph& graph = *(*cured)->graph;
        QVERIFY(*graph.get(*product).args.at(0).value.asRef() == model.x);
        QVERIFY(*graph.get(model.first.node).args.at(0).value.asRef() == (ValueRef {*product, 0}));
        QVERIFY(*graph.get(model.sum.node).args.at(1).value.asRef() == model.x);
        QVERIFY(!edited->addresses->find(added)); // the model before is as it was
    }
    /// The answer is the same before and after the cure was applied.
    void itsCostIsKnown()
    {
        const Model model;
        const EditedModelPtr edited = model.edited();
        const Cure cure = smoothing(edited, model.sum);
        QVERIFY(addsMultiplication(*edited, cure));
        QVERIFY(addsMultiplication(**withModelCures(edited, {cure}), cure));
        QVERIFY(!addsMultiplication(*edited, smoothing(edited, model.left)));
        Cure other = cure;
        other.kind = CureKind::Equalize;
        QVERIFY(!addsMultiplication(*edited, other));
    }
};

QTEST_GUILESS_MAIN(TestScaledValues)
#include "tst_scaled_values.moc"
