// SPDX-License-Identifier: Apache-2.0
// Queued observations leave what single observations leave, to the bit. Runs on
// the CPU, whose operators have the same schemas as a device's, and on a device where there is one.
#include "engine/calibrate/device_observation_queue.h"
#include "engine/calibrate/observers/observer_factory.h"
#include "engine/kernels/device_plugin.h"
#include "tests/engine/calibrate/compare_stats.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

using namespace qs;

namespace {

std::unique_ptr<Observer> observerOf(ObserverKind kind)
{
    ObserverSpec spec;
    spec.kind = kind;
    return makeObserver(ObserverId(1), spec);
}

CountingObserver& counting(const std::unique_ptr<Observer>& observer)
{
    return dynamic_cast<CountingObserver&>(*observer);
}

} // namespace

class TestDeviceObservationQueue : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init() { at::manual_seed(3); }

    void leavesWhatSingleObservationsLeave_data()
    {
        QTest::addColumn<QString>("device");
        QTest::newRow("cpu") << "cpu";
        QTest::newRow("cuda") << "cuda:0";
    }
    void leavesWhatSingleObservationsLeave()
    {
        QFETCH(QString, device);
        if (device != "cpu")
            if (const auto plugin = loadCudaPlugin(); !plugin)
                QSKIP(plugin.error().line().c_str());
        for (const auto kind :
             {ObserverKind::Histogram, ObserverKind::MinMax, ObserverKind::MovingAverageMinMax}) {
            const auto direct = observerOf(kind), queued = observerOf(kind);
            DeviceObservationQueue queue;
            for (int batch = 1; batch <= 9; ++batch) {
                // grows at first, stays, grows on one side, then holds a single value
                const double scale = batch < 4 ? batch : batch == 6 ? 9 : 0.5;
                const at::Tensor x = batch == 8
                    ? at::full({3, 5}, 0.25)
                    : at::randn({4, 300}) * scale + (batch == 7 ? 20 : 0);
                direct->observe(x);
                queue.add(counting(queued), x.to(at::Device(device.toStdString())),
                          {NodeId(7), batch});
                if (batch == 5)
                    QVERIFY(queue.settle().empty());
            }
            QVERIFY(!queued->stats().everRan() || queued->stats().batchMin.size() == 5);
            QVERIFY(queue.settle().empty());
            QVERIFY(queue.settle().empty()); // nothing waits
            compareStats(queued->stats(), direct->stats());
        }
    }

    void tellsWhereTheFirstNaNStood()
    {
        const auto first = observerOf(ObserverKind::Histogram);
        const auto second = observerOf(ObserverKind::MinMax);
        DeviceObservationQueue queue;
        for (int batch = 1; batch <= 4; ++batch) {
            at::Tensor x = at::randn({50});
            queue.add(counting(first), x, {NodeId(1), batch});
            if (batch >= 3)
                x[9] = INFINITY;
            queue.add(counting(second), x, {NodeId(2), batch});
            queue.addCheck(batch == 4 ? x : at::ones({2}), {NodeId(3), batch});
        }
        const auto found = queue.settle();
        QCOMPARE(found.size(), std::size_t(1)); // nothing of the batches after it
        QCOMPARE(found.front().node, NodeId(2));
        QCOMPARE(found.front().batch, std::int64_t(3));
    }

    void tellsOfAnOutput()
    {
        DeviceObservationQueue queue;
        queue.addCheck(at::ones({2, 2}), {NodeId(5), 1});
        queue.addCheck(at::tensor({1.0, double(NAN)}), {NodeId(5), 2});
        QCOMPARE(queue.settle().front().batch, std::int64_t(2));
    }

    // 64 MiB of looks of 2,052 words of eight bytes.
    void fillsUp()
    {
        const auto observer = observerOf(ObserverKind::Histogram);
        DeviceObservationQueue queue;
        int count = 0;
        for (; !queue.isFull(); ++count)
            queue.add(counting(observer), at::ones({1}), {NodeId(1), count});
        QCOMPARE(count, (64 << 20) / (2052 * 8) + 1);
        QVERIFY(queue.settle().empty());
        QVERIFY(!queue.isFull());
        QCOMPARE(observer->stats().count, std::int64_t(count));
    }
};

QTEST_GUILESS_MAIN(TestDeviceObservationQueue)
#include "tst_device_observation_queue.moc"
