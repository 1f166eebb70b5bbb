// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/metrics/metrics.h"
#include "engine/values/value_sums.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

#include <cmath>
#include <limits>
#include <numeric>

using namespace qs;

namespace {

/// The same divergence, counted one by one.
double naive(const at::Tensor& y, const at::Tensor& made, double low, double high)
{
    constexpr int kBins = ValueCounts::kBins;
    const auto counted = [&](const at::Tensor& values) {
        std::vector<double> bins(kBins + 1, 0.5);
        const at::Tensor flat = values.contiguous();
        const float* x = flat.const_data_ptr<float>();
        for (std::int64_t i = 0; i < flat.numel(); ++i) {
            const float at = (x[i] - float(low)) * float(kBins) / (float(high) - float(low));
            const bool inside = x[i] >= float(low) && x[i] <= float(high);
            ++bins[std::size_t(inside ? std::min(int(at), kBins - 1) : kBins)];
        }
        return bins;
    };
    const auto p = counted(y), q = counted(made);
    double sumP = 0, sumQ = 0, out = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
        sumP += p[i];
        sumQ += q[i];
    }
    for (std::size_t i = 0; i < p.size(); ++i)
        out += p[i] / sumP * std::log(p[i] / sumP / (q[i] / sumQ));
    return out;
}

double counted(const std::vector<ValuePair>& batches)
{
    ValueCounts counts;
    for (const ValuePair& batch : batches)
        addCounts(counts, {&batch, 1});
    return divergence(counts).value();
}

} // namespace

class TestValueCounts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void identicalValuesDoNotDiverge()
    {
        const at::Tensor y = at::sin(at::arange(999, at::kFloat));
        QCOMPARE(counted({{y, y}}), 0.0);
        QCOMPARE(counted({{y, y.flip(0)}}), 0.0); // another order is the same distribution
        QVERIFY(!divergence({}));
    }

    void countsAreTheNaiveOnes()
    {
        at::manual_seed(1);
        const at::Tensor y = at::randn({4, 3, 50, 50}), made = (y * 4).round() / 4 + 0.05;
        const double wanted = naive(y, made, y.min().item<double>(), y.max().item<double>());
        QVERIFY(wanted > 1e-4);
        QVERIFY(std::abs(counted({{y, made}}) - wanted) < 1e-12);
        // In another layout of memory, and of another element type.
        const auto last = at::MemoryFormat::ChannelsLast;
        QCOMPARE(counted({{y.contiguous(last), made}}), counted({{y, made}}));
        const at::Tensor few = y.to(at::kHalf);
        QCOMPARE(counted({{few, few.to(at::kFloat)}}), 0.0);
    }

    void theFirstBatchChoosesTheGrid()
    {
        const at::Tensor first = at::linspace(-1, 1, 1000), wider = first * 3;
        const at::Tensor both = at::cat({first, wider});
        const double wanted = naive(both, both + 0.1, -1, 1);
        QVERIFY(std::abs(counted({{first, first + 0.1}, {wider, wider + 0.1}}) - wanted) < 1e-12);
    }

    void manyElementsAreCountedInPart()
    {
        at::manual_seed(3);
        // Each of 128 channels lies elsewhere: a sample that kept step with them would show it.
        const at::Tensor y = at::randn({4, 64, 64, 128}) + at::arange(128, at::kFloat) / 16;
        const at::Tensor made = y * 0.8 + 0.4;
        ValueCounts counts;
        const ValuePair pair {y, made};
        addCounts(counts, {&pair, 1});
        const auto counted = std::accumulate(counts.floating.begin(), counts.floating.end(), 0.0);
        QVERIFY(counted > 0.8 * ValueCounts::kMostOfBatch && counted <= ValueCounts::kMostOfBatch);
        const double all = naive(y, made, y.min().item<double>(), y.max().item<double>());
        QVERIFY2(std::abs(divergence(counts).value() / all - 1) < 0.05,
                 qPrintable(QString::number(*divergence(counts)) + " " + QString::number(all)));
        ValueCounts again;
        addCounts(again, {&pair, 1});
        QVERIFY(counts == again);
        const ValuePair turned {y, made.permute({3, 0, 1, 2}).contiguous().permute({1, 2, 3, 0})};
        ValueCounts other; // another layout in memory: the same elements of both all the same
        addCounts(other, {&turned, 1});
        QVERIFY(std::abs(divergence(other).value() / all - 1) < 0.05);
    }

    void oddValues()
    {
        constexpr float kInf = std::numeric_limits<float>::infinity();
        const at::Tensor odd = at::tensor({kInf, -kInf, std::nanf(""), 1.0f});
        QCOMPARE(counted({{odd, odd}}), 0.0);
        QVERIFY(counted({{odd, at::ones({4})}}) > 0);
        const at::Tensor none = at::full({4}, kInf); // no grid until a finite value comes
        QCOMPARE(counted({{none, none}, {odd, odd}}), 0.0);
        QCOMPARE(counted({{at::ones({8}), at::ones({8})}}), 0.0); // a range of one point
        QVERIFY(std::isfinite(counted({{at::ones({8}), at::zeros({8})}})));
    }

    void sumsOfChannelsAndSamplesAreTheWhole()
    {
        at::manual_seed(2);
        for (const int axis : {-1, 1, 2, 3}) {
            ValueSums sums;
            ErrorSums whole;
            for (const std::int64_t samples : {5, 2}) {
                const at::Tensor y = at::randn({samples, 3, 4, 6}),
                                 made = y + 0.1 * at::randn_like(y);
                QVERIFY(sums.add({y, made}, axis, samples));
                QVERIFY(addError(whole, y, made));
            }
            QCOMPARE(sums.samples().size(), std::size_t(7));
            static const std::vector<std::int64_t> kSizes {5, 3, 4, 6};
            const std::int64_t channels = axis < 0 ? 1 : kSizes[std::size_t(axis)];
            QCOMPARE(std::int64_t(sums.channels().size()), channels);
            ErrorSums byChannel, bySample;
            for (const auto& one : sums.channels())
                kernels::merge(byChannel, one.sums);
            for (const ErrorSums& one : sums.samples())
                kernels::merge(bySample, one);
            for (const ErrorSums& got : {byChannel, bySample}) {
                QCOMPARE(got.count, whole.count);
                QCOMPARE(got.maxAbs, whole.maxAbs);
                QVERIFY(std::abs(got.noise2 / whole.noise2 - 1) < 1e-12);
                QVERIFY(std::abs(got.signal2 / whole.signal2 - 1) < 1e-12);
            }
        }
    }

    void oneSidedInfinitiesStayInTheirChannel()
    {
        const at::Tensor y = at::ones({2, 3, 2});
        at::Tensor made = y.clone();
        made[1][2][0] = std::numeric_limits<float>::infinity();
        ValueSums sums;
        QVERIFY(sums.add({y, made}, 1, 2));
        QVERIFY(!isInfiniteError(sums.channels()[0].sums));
        QVERIFY(isInfiniteError(sums.channels()[2].sums));
        QVERIFY(!isInfiniteError(sums.samples()[0]) && isInfiniteError(sums.samples()[1]));
        QCOMPARE(sums.channels()[2].high, 1.0);
    }

    void rowsThatAreNoSamples()
    {
        const at::Tensor y = at::ones({6, 3});
        ValueSums sums;
        QVERIFY(sums.add({y, y}, 1, 6));
        QCOMPARE(sums.samples().size(), std::size_t(6));
        QVERIFY(sums.add({y, y}, 1, 4)); // six rows of four samples
        QVERIFY(sums.samples().empty());
        ValueSums single;
        QVERIFY(single.add({y, y}, 1, 1)); // all of it is the one sample's
        QCOMPARE(single.samples().size(), std::size_t(1));
        QCOMPARE(single.samples()[0].count, 18);
    }
};

QTEST_GUILESS_MAIN(TestValueCounts)
#include "tst_value_counts.moc"
