// SPDX-License-Identifier: Apache-2.0
#include "engine/base/memory/memory_budget.h"
#include "engine/calibrate/memory_estimate.h"
#include "tests/support/tiny_graph.h"

#include <QtTest/QtTest>

using namespace qs;

class TestMemoryEstimate : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void addsUpWhatIsAliveAtOnce()
    {
        test::TinyGraph tiny;
        const ValueRef x = tiny.input("x", {2, 1000});
        const ValueRef w = tiny.parameter("w", at::zeros({1000}));
        const ValueRef relu = tiny.op("aten.relu.default", {{"self", x}}, {2, 1000});
        // A view has no separate memory and keeps that of its tensor alive.
        const ValueRef view = tiny.op("aten.view.default",
                                      {{"self", relu}, {"size", test::ints({1000, 2})}}, {1000, 2});
        const ValueRef neg = tiny.op("aten.neg.default", {{"self", relu}}, {2, 1000});
        const ValueRef exp = tiny.op("aten.exp.default", {{"self", neg}}, {2, 1000});
        const ValueRef back = tiny.op("aten.view.default",
                                      {{"self", view}, {"size", test::ints({2, 1000})}}, {2, 1000});
        const ValueRef add
            = tiny.op("aten.add.Tensor", {{"self", exp}, {"other", back}}, {2, 1000});
        const ValueRef mul = tiny.op("aten.mul.Tensor", {{"self", add}, {"other", w}}, {2, 1000});
        const MemoryEstimate found = estimateMemory(*tiny.finish({mul}), {at::zeros({2, 1000})});
        QCOMPARE(found.weights, std::int64_t(4000));
        QCOMPARE(found.live, std::int64_t(3 * 8000)); // relu (by its view), neg, exp; then exp, add
        QVERIFY(found.needed() > found.weights + 2 * found.live);
    }

    void refusesWithBothFigures()
    {
        MemoryEstimate estimate;
        estimate.live = std::int64_t(4) << 30;
        QVERIFY(checkFits(estimate, std::int64_t(10) << 30, 8, "cuda:0"));
        const auto refused = checkFits(estimate, std::int64_t(5) << 30, 8, "cuda:0");
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, ErrorCode::Device);
        const QString line = QString::fromStdString(refused.error().line());
        QVERIFY2(line.contains("8.3 GB") && line.contains("5.0 GB") && line.contains("cuda:0"),
                 qPrintable(line));
        // (5 GiB - 300 MiB) / 8 GiB of a batch of 8.
        QVERIFY2(line.contains("\"batch_size\" to 4"), qPrintable(line));
        const auto hopeless = checkFits(estimate, std::int64_t(300) << 20, 8, "cuda:0");
        QVERIFY(!QString::fromStdString(hopeless.error().line()).contains("batch_size"));
    }

    void refusesWhatTheMachineCannotHold()
    {
        MemoryEstimate estimate;
        estimate.weights = std::int64_t(2) << 30;
        estimate.live = std::int64_t(1) << 30;
        QVERIFY(checkFitsHere(estimate, std::int64_t(5) << 30, 8));
        const auto refused = checkFitsHere(estimate, std::int64_t(4) << 30, 8);
        QVERIFY(!refused);
        const QString line = QString::fromStdString(refused.error().line());
        QVERIFY2(line.contains("5.0 GB") && line.contains("4.0 GB")
                     && line.contains("\"batch_size\" to 4"),
                 qPrintable(line));
        const auto hopeless = checkFitsHere(estimate, std::int64_t(1) << 30, 8);
        QVERIFY(!QString::fromStdString(hopeless.error().line()).contains("batch_size"));
        QVERIFY(mainMemoryLeft() > (std::int64_t(64) << 20));
    }
};

QTEST_GUILESS_MAIN(TestMemoryEstimate)
#include "tst_memory_estimate.moc"
