// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/convergence/convergence.h"
#include "engine/calibrate/observers/min_max_observer.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

using namespace qs;

namespace {

RangeHistory history(const char* name, std::vector<RangeAfter> ranges)
{
    static std::uint32_t next = 0;
    return {ObserverId(++next), name, std::move(ranges)};
}

/// Ranges at 16 and 40 batches, of which the upper end moved by `change` of the width.
RangeHistory changed(const char* name, double change)
{
    return history(name, {{16, 0, float(100 * (1 - change))}, {32, 0, 100}, {40, 0, 100}});
}

Convergence of(std::vector<RangeHistory> observers, std::int64_t batches = 40)
{
    return {batches, std::move(observers)};
}

} // namespace

class TestConvergence : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void comparedCounts()
    {
        const std::vector<std::pair<std::int64_t, std::int64_t>> wanted {
            {0, 0}, {1, 0}, {2, 1}, {3, 1}, {4, 2}, {7, 2}, {8, 4}, {40, 16}, {63, 16}, {64, 32}};
        for (const auto& [batches, since] : wanted)
            QCOMPARE(comparedCount(batches), since);
        for (std::int64_t count = -1; count < 70; ++count)
            QCOMPARE(isRecordedCount(count), count > 0 && std::popcount(std::uint64_t(count)) == 1);
    }

    void changes()
    {
        QCOMPARE(rangeChange(history("a", {})), std::nullopt);
        QCOMPARE(rangeChange(history("a", {{1, 0, 1}})), std::nullopt);
        QCOMPARE(rangeChange(history("a", {{4, 0, 1}, {6, 0, 1}})), std::nullopt); // since 2
        QCOMPARE(*rangeChange(history("a", {{1, -1, 3}, {2, -1, 4}})), 0.2);
        // The larger shift of both ends; ranges include zero.
        QCOMPARE(*rangeChange(history("a", {{1, -1, 3}, {2, -4, 4}})), 0.375);
        QCOMPARE(*rangeChange(history("a", {{1, 5, 8}, {2, 2, 8}})), 0.0);
        QCOMPARE(*rangeChange(history("a", {{1, 5, 8}, {2, 5, 10}})), 0.2);
        // It may shrink, to nothing as well.
        QCOMPARE(*rangeChange(history("a", {{1, 0, 8}, {2, 0, 4}})), 1.0);
        QCOMPARE(*rangeChange(history("a", {{1, 0, 8}, {2, 0, 0}})), 1.0);
        QCOMPARE(*rangeChange(history("a", {{1, 0, 0}, {2, 0, 0}})), 0.0);
    }

    void hints()
    {
        QVERIFY(!convergenceHint(of({})));
        QVERIFY(!convergenceHint(of({history("a", {{2, 0, 1}, {4, 0, 1}})}, 4)));
        std::vector<RangeHistory> observers;
        for (int i = 0; i < 97; ++i)
            observers.push_back(changed("still", 0.0099));
        for (int i = 0; i < 5; ++i)
            observers.push_back(changed("moving", 0.0101));
        observers.push_back(history("other", {{8, 0, 1}, {32, 0, 1}})); // of another count
        auto hint = *convergenceHint(of(observers));
        QCOMPARE(hintText(hint),
                 "97 of 102 ranges changed by less than 1 % since batch 16: more data will change "
                 "little");
        QVERIFY(hint.isSettled);
        // One range that changed much is enough to want more data.
        observers[0] = changed("grown", 0.1001);
        hint = *convergenceHint(of(observers));
        QVERIFY(!hint.isSettled);
        QCOMPARE(hintText(hint),
                 "96 of 102 ranges changed by less than 1 % since batch 16; still changing: "
                 "'grown' (10 %), 'moving' (1.0 %)");
        // So are many that change a little; the three greatest are named, each once.
        observers = {changed("a", 0.02), changed("b", 0.05),  changed("c", 0.03),
                     changed("d", 0.04), changed("b", 0.045), changed("e", 0)};
        hint = *convergenceHint(of(observers));
        QCOMPARE(hintText(hint),
                 "1 of 6 ranges changed by less than 1 % since batch 16; still changing: 'b' (5.0 "
                 "%), 'd' (4.0 %), 'c' (3.0 %)");
    }

    void records()
    {
        MinMaxObserver observer(ObserverId(1), {});
        for (const std::int64_t batches : {1, 2, 4, 8, 10})
            observer.record({batches, 0, float(batches)});
        QCOMPARE(observer.soFar().ranges.size(), std::size_t(5));
        // A longer calibration resumes after 10: that entry is of no recorded count.
        observer.record({16, 0, 16});
        QCOMPARE(observer.stats().ranges.back(), (RangeAfter {16, 0, 16}));
        QCOMPARE(observer.stats().ranges[3], (RangeAfter {8, 0, 8}));
        QCOMPARE(observer.stats().ranges.size(), std::size_t(5));
    }
};

QTEST_GUILESS_MAIN(TestConvergence)
#include "tst_convergence.moc"
