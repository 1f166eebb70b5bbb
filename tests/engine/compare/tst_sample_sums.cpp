// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/metrics/sample_sums.h"
#include "engine/result/error_json.h"
#include "engine/result/sample_json.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace qs;

namespace {

constexpr std::int64_t kClasses = 5;

/// The outputs of many batches, float and int8, and a second output whose rows are not samples.
struct Run
{
    std::vector<at::Tensor> floating, converted, labels;
    std::vector<std::int64_t> sizes {7, 40, 1, 60, 33};

    explicit Run(double noise)
    {
        at::manual_seed(5);
        for (const std::int64_t size : sizes) {
            floating.push_back(at::randn({size, kClasses}));
            converted.push_back(floating.back() + noise * at::randn({size, kClasses}));
            labels.push_back(at::randint(-1, kClasses + 1, {size}, at::kLong));
        }
    }
    Comparison compared(bool hasLabels)
    {
        Top1 top1;
        SampleSums sums;
        Comparison comparison;
        ErrorSums all;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            Batch batch;
            batch.samples = sizes[i];
            if (hasLabels)
                batch.labels = labels[i];
            const auto classes = top1.add({floating[i]}, {converted[i]}, batch);
            const at::Tensor other = at::ones({3 * sizes[i] + 1, 2});
            if (!sums.add({{other, 2 * other}, {floating[i], converted[i]}}, sizes[i], classes)
                || !addError(all, floating[i], converted[i]))
                qFatal("the batch is not taken");
        }
        ErrorMetrics bad;
        bad.sqnrDb = -6;
        comparison.outputs = {{"boxes", bad, bad}, {"logits", metricsFrom(all), metricsFrom(all)}};
        top1.addTo(comparison, {"logits"});
        comparison.sampleErrors = sums.result(comparison);
        return comparison;
    }
    /// The figures of all samples, by a loop over rows, worst first.
    std::vector<SampleRecord> records(bool hasLabels) const
    {
        const at::Tensor y = at::cat(floating), other = at::cat(converted), label = at::cat(labels);
        std::vector<SampleRecord> out;
        for (std::int64_t i = 0; i < y.size(0); ++i) {
            const at::Tensor a = y[i].to(at::kDouble), b = other[i].to(at::kDouble);
            SampleRecord record;
            record.index = i;
            record.signal = (a * a).sum().item<double>();
            record.noise = ((b - a) * (b - a)).sum().item<double>();
            if (!std::isfinite(record.noise))
                record.noise = std::numeric_limits<double>::infinity();
            record.sqnrDb = std::isfinite(record.noise)
                ? 10 * std::log10(record.signal / record.noise)
                : -200;
            record.floatClass = y[i].argmax().item<std::int64_t>();
            record.int8Class = other[i].argmax().item<std::int64_t>();
            if (hasLabels)
                record.label = label[i].item<std::int64_t>();
            record.isChanged
                = record.floatClass != record.int8Class || b.isnan().any().item<bool>();
            out.push_back(record);
        }
        std::sort(out.begin(), out.end(), isWorse);
        return out;
    }
};

bool isNear(double a, double b)
{
    return a == b || std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

bool isSame(const SampleRecord& a, const SampleRecord& b)
{
    return a.index == b.index && a.floatClass == b.floatClass && a.int8Class == b.int8Class
        && a.label == b.label && a.isChanged == b.isChanged && isNear(a.noise, b.noise)
        && isNear(a.sqnrDb.value(), b.sqnrDb.value());
}

} // namespace

class TestSampleSums : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theWorstOfAllAndOfTheChanged_data()
    {
        QTest::addColumn<double>("noise");
        QTest::addColumn<bool>("hasLabels");
        QTest::addColumn<bool>("hasNan");
        QTest::newRow("few changes") << 0.02 << true << false;
        QTest::newRow("many changes") << 1.5 << true << false;
        QTest::newRow("no labels") << 0.3 << false << false;
        QTest::newRow("NaN") << 0.3 << true << true;
    }

    void theWorstOfAllAndOfTheChanged()
    {
        QFETCH(double, noise);
        QFETCH(bool, hasLabels);
        QFETCH(bool, hasNan);
        Run run(noise);
        if (hasNan)
            run.converted[1][3][2] = std::numeric_limits<float>::quiet_NaN();
        const Comparison comparison = run.compared(hasLabels);
        const SampleErrorsPtr& errors = comparison.sampleErrors;
        QVERIFY(errors);
        QCOMPARE(errors->output, std::string("logits"));
        const std::vector<SampleRecord> all = run.records(hasLabels);
        std::vector<SampleRecord> wanted(all.begin(), all.begin() + SampleErrors::kMost);
        std::size_t changed = 0;
        for (std::size_t i = 0; i < all.size(); ++i)
            if (all[i].isChanged && changed++ < SampleErrors::kMost && i >= SampleErrors::kMost)
                wanted.push_back(all[i]);
        QCOMPARE(errors->worst.size(), wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i)
            QVERIFY(isSame(errors->worst[i], wanted[i]));
    }

    void countsAreTheFiguresOfTop1_data() { theWorstOfAllAndOfTheChanged_data(); }

    void countsAreTheFiguresOfTop1()
    {
        QFETCH(double, noise);
        QFETCH(bool, hasLabels);
        QFETCH(bool, hasNan);
        Run run(noise);
        if (hasNan)
            run.converted[1][3][2] = std::numeric_limits<float>::quiet_NaN();
        const Comparison comparison = run.compared(hasLabels);
        const ClassCounts& counts = comparison.sampleErrors->classes.value();
        const std::int64_t samples = std::int64_t(run.records(false).size());
        QCOMPARE(counts.classes, kClasses);
        QCOMPARE(counts.notANumber, std::int64_t(hasNan));
        QCOMPARE(totalOf(counts.floatInt8) + counts.notANumber, samples);
        QVERIFY(double(equalIn(counts.floatInt8)) / double(samples)
                == comparison.agreement.value().top1);
        QCOMPARE(totalOf(counts.labelFloat), hasLabels ? samples : 0);
        QCOMPARE(totalOf(counts.labelInt8), hasLabels ? samples : 0);
        if (!hasLabels)
            return;
        QVERIFY(double(equalIn(counts.labelFloat)) / double(samples) == comparison.floatTop1);
        QVERIFY(double(equalIn(counts.labelInt8)) / double(samples) == comparison.int8Top1);
    }

    void withoutClassScoresThereAreErrorsOnly()
    {
        SampleSums sums;
        Comparison comparison;
        const at::Tensor y = at::randn({6, 3, 4, 4}), other = y + 0.1;
        QVERIFY(sums.add({{y, other}}, 6, std::nullopt));
        comparison.outputs = {{"picture", ErrorMetrics {}, ErrorMetrics {}}};
        const SampleErrorsPtr errors = sums.result(comparison);
        QVERIFY(errors && !errors->classes);
        QCOMPARE(errors->worst.size(), std::size_t(6));
        QVERIFY(!errors->worst[0].floatClass && !errors->worst[0].isChanged);
    }

    void rowsThatAreNoSamplesHaveNone()
    {
        SampleSums sums;
        Comparison comparison;
        comparison.outputs = {{"boxes", ErrorMetrics {}, ErrorMetrics {}}};
        const at::Tensor four = at::ones({4, 2}), nine = at::ones({9, 2});
        QVERIFY(sums.add({{four, four}}, 4, std::nullopt));
        QVERIFY(sums.result(comparison));
        QVERIFY(sums.add({{nine, nine}}, 4, std::nullopt));
        QVERIFY(!sums.result(comparison));
        QVERIFY(!SampleSums().result(comparison));
    }

    void withoutSignalComesLast()
    {
        SampleSums sums;
        Comparison comparison;
        comparison.outputs = {{"out", ErrorMetrics {}, ErrorMetrics {}}};
        const at::Tensor y = at::tensor({0.F, 1.F, 2.F}).view({3, 1});
        QVERIFY(sums.add({{y, y + 0.5}}, 3, std::nullopt));
        const SampleErrorsPtr errors = sums.result(comparison);
        QCOMPARE(errors->worst[0].index, std::int64_t(1));
        QCOMPARE(errors->worst[2].index, std::int64_t(0));
        QVERIFY(!errors->worst[2].sqnrDb);
    }

    void documentsKeepThem()
    {
        for (const bool hasLabels : {false, true}) {
            Run run(0.4);
            if (hasLabels)
                run.converted[0][0][0] = std::numeric_limits<float>::infinity();
            const Comparison comparison = run.compared(hasLabels);
            const Json json = Json::parse(sampleErrorsJson(comparison.sampleErrors).dump());
            QVERIFY(*sampleErrorsFromJson(&json) == *comparison.sampleErrors);
        }
        QVERIFY(sampleErrorsJson(nullptr).is_null());
        QVERIFY(!sampleErrorsFromJson(nullptr));
    }
};

QTEST_APPLESS_MAIN(TestSampleSums)
#include "tst_sample_sums.moc"
