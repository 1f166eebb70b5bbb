// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/sweep/local_sample.h"

#include <QtTest/QtTest>

#include <cmath>
#include <random>
#include <vector>

namespace {

using Batches = std::vector<std::pair<double, double>>; // noise^2, signal^2

qs::TermSpread spreadOf(const Batches& batches)
{
    qs::TermSpread spread;
    for (const auto& [noise, signal] : batches) {
        qs::kernels::ErrorSums sums;
        sums.noise2 = noise;
        sums.signal2 = signal;
        spread.add(sums);
    }
    return spread;
}

/// All three local terms with this noise.
qs::kernels::ErrorTerms terms(double noise, double signal)
{
    qs::kernels::ErrorSums sums;
    sums.noise2 = noise;
    sums.signal2 = signal;
    return {sums, sums, sums, sums};
}

double decibels(double noise, double signal)
{
    return 10 * std::log10(signal / noise);
}

Batches randomBatches(std::mt19937& random, int count)
{
    std::normal_distribution<double> normal;
    Batches batches;
    for (int i = 0; i < count; ++i) {
        const double signal = 100 * std::exp(0.3 * normal(random));
        batches.emplace_back(0.01 * signal * std::exp(0.1 * normal(random)), signal);
    }
    return batches;
}

} // namespace

class TestLocalSample : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void errorOfARatio()
    {
        // 2 of 4 batches: ratio 3/30, residuals 1 - 0.1 * 20 = -1 and 2 - 0.1 * 10 = 1.
        const auto error = qs::standardErrorDb(spreadOf({{1, 20}, {2, 10}}), 2, 4);
        const double relative = std::sqrt(2.0 * 0.5 * 2 / 1) / 3;
        QVERIFY(error && std::abs(*error - 10 / std::log(10) * relative) < 1e-12);
    }

    void whereThereIsNone()
    {
        QVERIFY(!qs::standardErrorDb(spreadOf({{1, 20}}), 1, 4));
        QVERIFY(!qs::standardErrorDb(spreadOf({{0, 20}, {0, 10}}), 2, 4));
        QVERIFY(!qs::standardErrorDb(spreadOf({{1, 0}, {1, 0}}), 2, 4));
        QVERIFY(!qs::standardErrorDb(spreadOf({{HUGE_VAL, 1}, {1, 1}}), 2, 4));
        QCOMPARE(qs::standardErrorDb(spreadOf({{1, 20}, {2, 10}}), 2, 2).value(), 0.0);
        // Batches that lose alike leave nothing open, whatever their signal.
        QVERIFY(qs::standardErrorDb(spreadOf({{1, 10}, {3, 30}}), 2, 9).value() < 1e-6);
    }

    /// The figure over a sample lies within two standard errors of that over all batches as often
    /// as an estimate of five to ten batches can promise.
    void isAnEstimate()
    {
        std::mt19937 random(1);
        for (const int count : {5, 10}) {
            int within = 0;
            for (int trial = 0; trial < 500; ++trial) {
                const Batches all = randomBatches(random, 60);
                const qs::TermSpread whole = spreadOf(all);
                const qs::TermSpread part = spreadOf({all.begin(), all.begin() + count});
                const double apart
                    = decibels(part.noise, part.signal) - decibels(whole.noise, whole.signal);
                within += std::abs(apart) <= 2 * qs::standardErrorDb(part, count, 60).value();
            }
            QVERIFY2(within > 425, qPrintable(QString::number(within)));
        }
    }

    void theFirstAndTheMiddleBatch()
    {
        for (const int all : {1, 2, 3, 16, 17}) {
            qs::LocalSample sample;
            QVector<int> measured;
            for (int batch = 0; batch < all; ++batch)
                if (sample.wants(batch, all)) {
                    measured << batch;
                    sample.add(terms(1, 100), 8);
                }
            const QVector<int> wanted = all == 1 ? QVector<int> {0} : QVector<int> {0, all / 2};
            QCOMPARE(measured, wanted);
            QCOMPARE(sample.samples, 8 * measured.size());
        }
    }

    void untilTheErrorIsSmall()
    {
        qs::LocalSample sample;
        int last = 0;
        for (int batch = 0; batch < 400; ++batch) {
            if (!sample.wants(batch, 400))
                continue;
            last = batch;
            sample.add(terms(batch % 2 ? 1.0 : 1.3, 100), 8);
        }
        const auto error = qs::standardErrorDb(sample.bornHere, sample.batches, 400);
        QVERIFY(error && *error <= qs::kLocalErrorDb);
        QVERIFY2(sample.batches > 10 && last < 399, qPrintable(QString::number(last)));
    }

    /// Where no two batches are enough, every one from the middle on is measured.
    void toTheEndWhereNothingSettles()
    {
        qs::LocalSample sample;
        for (int batch = 0; batch < 16; ++batch)
            if (sample.wants(batch, 16))
                sample.add(terms(std::pow(10.0, batch % 3), 100), 8);
        QCOMPARE(sample.batches, 9);
    }
};

QTEST_APPLESS_MAIN(TestLocalSample)
#include "tst_local_sample.moc"
