// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/observed_types.h"
#include "engine/graph/graph_edit.h"
#include "tests/support/tiny_graph.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

using namespace qs;

namespace {

/// One batch, and how often it was asked for.
class CountedData : public Dataset
{
public:
    std::int64_t batchCount() const override { return 1; }
    bool hasLabels() const override { return false; }
    Result<Batch> batch(std::int64_t) const override
    {
        ++asked;
        return Batch {{at::arange(8, at::kFloat).reshape({2, 4})}, {}, 2};
    }

    mutable int asked = 0;
};

GraphPtr model()
{
    test::TinyGraph g;
    const ValueRef x = g.input("x", {2, 4});
    const ValueRef place = g.op("aten.argmax.default", {{"self", x}, {"dim", 1}}, {2});
    return g.finish({g.op("aten.cos.default", {{"self", x}}, {2, 4}), place});
}

GraphPtr withType(const GraphPtr& graph, const char* node, DType type)
{
    GraphEdit edit(*graph);
    edit.change(graph->tryFind(node)->id).outputs[0].type.dtype = type;
    return std::make_shared<const Graph>(edit.build());
}

} // namespace

class TestObservedTypes : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theFirstBatchTellsWhatTheFileDoesNot()
    {
        const GraphPtr untyped = withType(model(), "argmax", DType::Unknown);
        const CountedData data;
        const auto typed = withObservedTypes(untyped, data, {});
        QVERIFY2(typed, typed ? "" : typed.error().line().c_str());
        QCOMPARE(data.asked, 1);
        QCOMPARE((*typed)->tryFind("argmax")->outputs[0].type.dtype, DType::Int64);
        QCOMPARE((*typed)->tryFind("argmax")->id, untyped->tryFind("argmax")->id);
        QCOMPARE(untyped->tryFind("argmax")->outputs[0].type.dtype, DType::Unknown);
    }

    void aModelThatTellsAllIsNotRun()
    {
        const GraphPtr typed = withType(model(), "argmax", DType::Int64);
        const CountedData data;
        const auto same = withObservedTypes(typed, data, {});
        QVERIFY(same);
        QCOMPARE(*same, typed);
        QCOMPARE(data.asked, 0);
    }
};

QTEST_GUILESS_MAIN(TestObservedTypes)
#include "tst_observed_types.moc"
