// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/metrics/metrics.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

at::Tensor row(const std::vector<float>& values)
{
    return at::tensor(values);
}

qs::ErrorMetrics measure(const at::Tensor& signal, const at::Tensor& other)
{
    qs::ErrorSums sums;
    const auto added = qs::addError(sums, signal, other);
    if (!added)
        qFatal("%s", added.error().line().c_str());
    return qs::metricsFrom(sums).value();
}

} // namespace

class TestMetrics : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void knownValues()
    {
        const auto metrics = measure(row({3, 4}), row({3, 3.5}));
        QVERIFY(std::abs(*metrics.sqnrDb - 20) < 1e-9); // |y| = 5, |noise| = 0.5
        QCOMPARE(metrics.mse, 0.125);
        QCOMPARE(metrics.maxAbs, 0.5);
        QVERIFY(std::abs(metrics.cosine - 23 / (5 * std::sqrt(21.25))) < 1e-12);
    }

    void cumulativeAloneIsThatOfAllTerms()
    {
        at::manual_seed(3);
        for (const std::int64_t count : {1, 15, 16, 17, 1000, 70000}) {
            const at::Tensor y = at::randn({count}), converted = y + 0.01 * at::randn({count});
            qs::UnitSums terms;
            QVERIFY(qs::addErrors(terms, {y, converted, y + 0.1, converted - 0.1}));
            qs::ErrorSums alone;
            QVERIFY(qs::addCumulative(alone, y, converted));
            QCOMPARE(alone.signal2, terms.cumulative.signal2);
            QCOMPARE(alone.other2, terms.cumulative.other2);
            QCOMPARE(alone.dot, terms.cumulative.dot);
            QCOMPARE(alone.noise2, terms.cumulative.noise2);
            QCOMPARE(alone.maxAbs, terms.cumulative.maxAbs);
            QCOMPARE(alone.count, terms.cumulative.count);
        }
    }

    void batchesAddUp()
    {
        const at::Tensor signal = at::arange(100, at::kFloat).reshape({10, 10});
        const at::Tensor other = signal + at::sin(signal);
        qs::ErrorSums sums;
        for (int i = 0; i < 10; ++i)
            QVERIFY(qs::addError(sums, signal.slice(1, i, i + 1), other.slice(1, i, i + 1)));
        const auto whole = measure(signal, other);
        const auto summed = qs::metricsFrom(sums).value();
        QVERIFY(std::abs(*whole.sqnrDb - *summed.sqnrDb) < 1e-9);
        QVERIFY(std::abs(whole.mse - summed.mse) < 1e-12);
        QCOMPARE(sums.count, 100);
    }

    void capsAndAbsence()
    {
        QCOMPARE(*measure(row({1, 2}), row({1, 2})).sqnrDb, 200.0);
        QCOMPARE(*measure(row({1e-20F}), row({1e20F})).sqnrDb, -200.0);
        QVERIFY(!measure(row({0, 0}), row({1, 0})).sqnrDb);
        QVERIFY(!measure(row({0, 0}), row({0, 0})).sqnrDb);
        QCOMPARE(measure(row({0, 0}), row({0, 0})).cosine, 1.0);
        QVERIFY(!qs::metricsFrom({}));
    }

    void equalInfinitiesAreNoError()
    {
        for (const float same : {-kInf, kInf, kNaN}) {
            const auto metrics = measure(row({same, 3, 4}), row({same, 3, 3.5}));
            QVERIFY(std::abs(*metrics.sqnrDb - 20) < 1e-9);
            QCOMPARE(metrics.maxAbs, 0.5);
        }
        qs::ErrorSums sums;
        QVERIFY(qs::addError(sums, row({kInf}), row({kInf})));
        QVERIFY(!qs::metricsFrom(sums)); // nothing that could be measured
    }

    void infinityOnOneSideIsAnInfiniteError()
    {
        for (const auto& [y, other] : {std::pair(kInf, 5.0F), std::pair(-kInf, kInf),
                                       std::pair(kNaN, 5.0F), std::pair(5.0F, kInf)}) {
            qs::ErrorSums sums;
            QVERIFY(qs::addError(sums, row({y, 3, 4}), row({other, 3, 3.5})));
            QVERIFY(qs::isInfiniteError(sums));
            QCOMPARE(sums.count, 3);
            QCOMPARE(std::isfinite(sums.other2), std::isfinite(other));
            const auto metrics = qs::metricsFrom(sums).value();
            QCOMPARE(*metrics.sqnrDb, -200.0);
            QVERIFY(std::isinf(metrics.mse) && std::isinf(metrics.maxAbs));
        }
        QCOMPARE(*measure(row({kInf}), row({5})).sqnrDb, -200.0); // with no finite signal at all
    }

    void infinitiesInOneOfFourTerms()
    {
        // y, y^ and f(x^) agree on -Inf: only f_q(x) lost it.
        qs::UnitSums sums;
        QVERIFY(qs::addErrors(
            sums, {row({-kInf, 3, 4}), row({-kInf, 3, 3.5}), row({-kInf, 3, 4}), row({-9, 3, 4})}));
        QCOMPARE(*qs::metricsFrom(sums.isolated)->sqnrDb, -200.0);
        QCOMPARE(*qs::metricsFrom(sums.inherited)->sqnrDb, 200.0);
        QVERIFY(std::abs(*qs::metricsFrom(sums.bornHere)->sqnrDb - 20) < 1e-9);
        QVERIFY(std::abs(*qs::metricsFrom(sums.cumulative)->sqnrDb - 20) < 1e-9);
    }

    void brokenConversionIsTheWorst()
    {
        QCOMPARE(*measure(row({1, 2}), row({1, kNaN})).sqnrDb, -200.0);
        QCOMPARE(*measure(row({1, 2}), row({1, kInf})).sqnrDb, -200.0);
    }

    void fourTermsAtOnceAreThoseOneByOne()
    {
        for (const bool broken : {false, true}) {
            const at::Tensor y = at::randn({3, 1001});
            const at::Tensor converted = y + 0.1 * at::randn_like(y);
            const at::Tensor fx = y + 0.1 * at::randn_like(y);
            at::Tensor fq = y + 0.01 * at::randn_like(y);
            if (broken)
                fq[1][7] = kInf;
            qs::UnitSums sums;
            QVERIFY(qs::addErrors(sums, {y, converted, fx, fq}));
            const auto same = [](const qs::ErrorSums& added, const qs::ErrorMetrics& wanted) {
                const auto found = qs::metricsFrom(added).value();
                return std::abs(*found.sqnrDb - *wanted.sqnrDb) < 1e-4
                    && !(std::abs(found.cosine - wanted.cosine) > 1e-6) && added.count == 3003;
            };
            QVERIFY(same(sums.isolated, measure(y, fq)));
            QVERIFY(same(sums.inherited, measure(y, fx)));
            QVERIFY(same(sums.bornHere, measure(y, y + (converted - fx))));
            QVERIFY(same(sums.cumulative, measure(y, converted)));
        }
    }

    void shapesMustAgree()
    {
        qs::ErrorSums sums;
        QVERIFY(!qs::addError(sums, row({1, 2}), row({1})));
    }
};

QTEST_GUILESS_MAIN(TestMetrics)
#include "tst_metrics.moc"
