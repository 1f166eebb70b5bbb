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

/// Of local terms on these batches; the cumulative term was seen on others.
std::optional<double> standardError(const Batches& local, const Batches& cumulative, int all)
{
    qs::LocalSample sample;
    sample.cumulative = spreadOf(cumulative);
    return sample.standardErrorDb(spreadOf(local), all);
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
        const Batches own {{1, 20}, {2, 10}};
        QVERIFY(std::abs(spreadOf(own).variance().value() - 4 * 2.0 / 9) < 1e-12);
        const double alone = 10 / std::log(10) * std::sqrt(0.5 * (8.0 / 9) / 2);
        QVERIFY(std::abs(standardError(own, {}, 4).value() - alone) < 1e-12);
        // The cumulative term counts for four degrees of freedom, these two batches for one.
        const Batches even {{1, 10}, {2, 20}, {3, 30}};
        QVERIFY(std::abs(standardError(own, even, 4).value() - alone / std::sqrt(5)) < 1e-6);
        QVERIFY(std::abs(standardError(even, own, 6).value()
                         - 10 / std::log(10) * std::sqrt(0.5 * (8.0 / 9) * 4 / 6 / 3))
                < 1e-6);
    }

    void whereThereIsNone()
    {
        QVERIFY(!standardError({{1, 20}}, {{1, 20}, {2, 10}}, 4));
        QVERIFY(!standardError({{0, 20}, {0, 10}}, {}, 4));
        QVERIFY(!standardError({{1, 0}, {1, 0}}, {}, 4));
        QVERIFY(!standardError({{HUGE_VAL, 1}, {1, 1}}, {}, 4));
        QCOMPARE(standardError({{1, 20}, {2, 10}}, {}, 2).value(), 0.0);
        // Batches that lose alike leave nothing open, whatever their signal.
        QVERIFY(standardError({{1, 10}, {3, 30}}, {}, 9).value() < 1e-6);
    }

    /// The figure over a sample lies within two standard errors of that over all batches in nine
    /// of ten cases, from two batches on.
    void isAnEstimate()
    {
        std::mt19937 random(1);
        for (const int count : {2, 3, 10}) {
            int within = 0;
            for (int trial = 0; trial < 500; ++trial) {
                const Batches all = randomBatches(random, 60);
                const Batches measured(all.begin(), all.begin() + count);
                const qs::TermSpread whole = spreadOf(all), part = spreadOf(measured);
                const double apart
                    = decibels(part.noise, part.signal) - decibels(whole.noise, whole.signal);
                within += std::abs(apart) <= 2 * standardError(measured, all, 60).value();
            }
            QVERIFY2(within > 450, qPrintable(QString::number(within)));
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
            sample.add(terms(batch % 3 ? 1.0 : 1.3, 100), 8);
        }
        const auto error = sample.standardErrorDb(sample.bornHere, 400);
        QVERIFY(error && *error <= qs::kLocalErrorDb);
        QVERIFY2(sample.bornHere.batches > 10 && last < 399, qPrintable(QString::number(last)));
    }

    /// Where no two batches are enough, every one from the middle on is measured.
    void toTheEndWhereNothingSettles()
    {
        qs::LocalSample sample;
        for (int batch = 0; batch < 16; ++batch)
            if (sample.wants(batch, 16))
                sample.add(terms(std::pow(10.0, batch % 3), 100), 8);
        QCOMPARE(sample.bornHere.batches, 9);
    }
};

QTEST_APPLESS_MAIN(TestLocalSample)
#include "tst_local_sample.moc"
