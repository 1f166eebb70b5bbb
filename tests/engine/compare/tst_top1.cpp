// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/metrics/top1.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

#include <limits>

using namespace qs;

namespace {

Batch batchOf(std::int64_t samples, at::Tensor labels = {})
{
    Batch batch;
    batch.samples = samples;
    batch.labels = std::move(labels);
    return batch;
}

/// One row of three scores for each class given, which is the highest.
at::Tensor scores(const std::vector<std::int64_t>& best)
{
    at::Tensor out = at::zeros({std::int64_t(best.size()), 3});
    for (std::size_t i = 0; i < best.size(); ++i)
        out[std::int64_t(i)][best[i]] = 1;
    return out;
}

} // namespace

class TestTop1 : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void agreementNeedsNoLabels()
    {
        Top1 top1;
        top1.add({scores({0, 1, 2, 0})}, {scores({0, 1, 2, 1})}, batchOf(4));
        top1.add({scores({2, 2})}, {scores({1, 2})}, batchOf(2)); // a short last batch
        Comparison comparison;
        top1.addTo(comparison, {"logits"});
        QVERIFY(comparison.agreement);
        QCOMPARE(comparison.agreement->output, std::string("logits"));
        QCOMPARE(comparison.agreement->top1, 4.0 / 6);
        QVERIFY(!comparison.floatTop1 && !comparison.int8Top1);
    }

    void labelsAndAgreementOfOneOutput()
    {
        Top1 top1;
        // The first output is not a table of scores; quantized outputs are read.
        const at::Tensor quantized
            = at::quantize_per_tensor(scores({0, 1, 1, 2}), 0.5, 0, at::kQUInt8);
        top1.add({at::ones({4, 1}), scores({0, 1, 2, 2})}, {at::ones({4, 1}), quantized},
                 batchOf(4, at::tensor({0, 1, 1, 1}, at::kLong)));
        Comparison comparison;
        top1.addTo(comparison, {"value", "logits"});
        QCOMPARE(comparison.agreement.value().output, std::string("logits"));
        QCOMPARE(comparison.agreement->top1, 0.75);
        QCOMPARE(comparison.floatTop1.value(), 0.5);
        QCOMPARE(comparison.int8Top1.value(), 0.75);
    }

    /// The highest of coordinates says nothing: an output counts where labels or model know it.
    void regressionHasNoFigure()
    {
        const auto agreementOf = [](ClassScores known, std::int64_t columns, const Batch& batch) {
            Top1 top1({known});
            const at::Tensor made = at::rand({4, columns});
            top1.add({made}, {made}, batch);
            return top1.agreement({"out"}).has_value();
        };
        const Batch labelled = batchOf(4, at::tensor({0, 1, 1, 1}, at::kLong));
        const Batch targets = batchOf(4, at::rand({4, 3}));
        QVERIFY(!agreementOf(ClassScores::Unlikely, 3, batchOf(4)));
        QVERIFY(!agreementOf(ClassScores::Unlikely, 1000, batchOf(4)));
        QVERIFY(!agreementOf(ClassScores::Likely, 4, batchOf(4)));
        QVERIFY(agreementOf(ClassScores::Likely, 10, batchOf(4)));
        QVERIFY(agreementOf(ClassScores::Sure, 2, batchOf(4)));
        QVERIFY(agreementOf(ClassScores::Unlikely, 3, labelled));
        QVERIFY(!agreementOf(ClassScores::Sure, 3, targets));
    }

    void nanAgreesWithNone()
    {
        at::Tensor bad = scores({1, 1});
        bad[0][1] = std::numeric_limits<float>::quiet_NaN();
        Top1 top1;
        top1.add({bad}, {bad}, batchOf(2));
        QCOMPARE(top1.agreement({"logits"}).value().top1, 0.5);
    }

    void otherOutputsHaveNoFigure_data()
    {
        QTest::addColumn<QList<QList<qint64>>>("shapes");
        QTest::newRow("no batch at all") << QList<QList<qint64>> {};
        QTest::newRow("a single column") << QList<QList<qint64>> {{4, 1}};
        QTest::newRow("an image") << QList<QList<qint64>> {{4, 3, 8, 8}};
        QTest::newRow("other rows than samples") << QList<QList<qint64>> {{7, 4}};
        // As many boxes as samples, in the first batch only.
        QTest::newRow("rows by chance") << QList<QList<qint64>> {{4, 4}, {9, 4}};
    }

    void otherOutputsHaveNoFigure()
    {
        QFETCH(QList<QList<qint64>>, shapes);
        Top1 top1;
        for (const auto& shape : shapes) {
            const at::Tensor made = at::rand(std::vector<std::int64_t>(shape.begin(), shape.end()));
            top1.add({made}, {made}, batchOf(4, at::zeros({4}, at::kLong)));
        }
        Comparison comparison;
        top1.addTo(comparison, {"out"});
        QVERIFY(!comparison.agreement && !comparison.floatTop1 && !comparison.int8Top1);
    }
};

QTEST_APPLESS_MAIN(TestTop1)
#include "tst_top1.moc"
