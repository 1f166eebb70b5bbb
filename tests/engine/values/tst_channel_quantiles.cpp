// SPDX-License-Identifier: Apache-2.0
#include "engine/values/channel_quantiles.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace qs;

namespace {

/// Linear interpolation between the sorted values.
double quantileOf(std::vector<float> values, double share)
{
    std::sort(values.begin(), values.end());
    const double place = share * double(values.size() - 1);
    const auto below = std::size_t(place);
    const auto above = std::min(below + 1, values.size() - 1);
    const double part = place - double(below);
    return double(values[below]) * (1 - part) + double(values[above]) * part;
}

void compare(const Quantiles& found, const std::vector<float>& values, double within)
{
    const std::pair<double, double> pairs[] = {{found.p1, 0.01},
                                               {found.q1, 0.25},
                                               {found.median, 0.5},
                                               {found.q3, 0.75},
                                               {found.p99, 0.99}};
    for (const auto& [got, share] : pairs) {
        const double wanted = quantileOf(values, share);
        const double off = std::abs(got - wanted);
        QVERIFY2(off <= within + 1e-15 * std::abs(wanted),
                 qPrintable(QString("%1: %2, not %3").arg(share).arg(got).arg(wanted)));
    }
}

} // namespace

class TestChannelQuantiles : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void fewValuesAreExact()
    {
        std::mt19937 random(1);
        std::normal_distribution<float> normal;
        for (const std::size_t count : {1, 2, 3, 7, 100, 101, 1000}) {
            ChannelQuantiles quantiles;
            std::vector<float> values(count);
            for (float& value : values)
                value = normal(random);
            quantiles.add(2, values.data(), std::int64_t(count));
            QVERIFY(!quantiles.quantiles(0) && !quantiles.quantiles(7));
            QCOMPARE(quantiles.quantiles(2)->error, 0.0);
            compare(*quantiles.quantiles(2), values, 0);
        }
    }

    void onlyFiniteValuesCount()
    {
        constexpr float kInf = std::numeric_limits<float>::infinity();
        const std::vector<float> values {kInf, 3, std::nanf(""), 1, -kInf, 2};
        ChannelQuantiles quantiles;
        quantiles.add(0, values.data(), std::int64_t(values.size()));
        compare(*quantiles.quantiles(0), {1, 2, 3}, 0);
        ChannelQuantiles none;
        none.add(0, values.data(), 1);
        QVERIFY(!none.quantiles(0));
    }

    void manyValuesAreWithinTheBound_data()
    {
        QTest::addColumn<int>("kind");
        QTest::newRow("normal") << 0;
        QTest::newRow("relu") << 1;
        QTest::newRow("growing") << 2;
        QTest::newRow("far off zero") << 3;
        QTest::newRow("constant") << 4;
        QTest::newRow("one huge value after zeros") << 5;
    }
    void manyValuesAreWithinTheBound()
    {
        QFETCH(int, kind);
        std::mt19937 random(2);
        std::normal_distribution<float> normal;
        constexpr std::int64_t kExact = 20000;
        ChannelQuantiles quantiles(kExact);
        std::vector<float> values(std::size_t(10 * kExact));
        for (std::size_t i = 0; i < values.size(); ++i) {
            const float one = normal(random);
            const float of[] = {one,
                                std::max(one, 0.0f),
                                one * float(i) * 1e-2f,
                                1000 + one * 1e-3f,
                                -7.25f,
                                i + 1 == values.size() ? 1e30f : 0.0f};
            values[i] = of[kind];
        }
        constexpr std::size_t kStep = 7000; // as batches
        for (std::size_t i = 0; i < values.size(); i += kStep)
            quantiles.add(0, values.data() + i, std::int64_t(std::min(kStep, values.size() - i)));
        const auto found = quantiles.quantiles(0);
        const auto [low, high] = std::minmax_element(values.begin(), values.end());
        const double bound = ChannelQuantiles::kBinError * (double(*high) - double(*low));
        QCOMPARE(found->error, bound);
        QVERIFY(bound <= 0.002 * (double(*high) - double(*low)));
        compare(*found, values, bound);
        if (kind == 4)
            QCOMPARE(found->median, -7.25);
    }
};

QTEST_GUILESS_MAIN(TestChannelQuantiles)
#include "tst_channel_quantiles.moc"
