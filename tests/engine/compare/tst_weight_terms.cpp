// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/products/weight_terms.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

#include <limits>

using namespace qs;

class TestWeightTerms : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void oneTerm()
    {
        const at::Tensor integers = at::randint(-127, 128, {6, 40}, at::kFloat);
        integers.select(1, 0).fill_(127);
        integers[2].zero_();
        const auto terms = splitWeight(integers * 0.25);
        QCOMPARE(terms.size(), std::size_t(1));
        QVERIFY(terms[0].integers.to(at::kFloat).equal(integers));
    }
    void twoTerms()
    {
        at::Tensor weight = at::randn({8, 3, 5, 5}) * at::logspace(-3, 3, 8).reshape({8, 1, 1, 1});
        weight[4].zero_();
        const auto terms = splitWeight(weight);
        QCOMPARE(terms.size(), std::size_t(2));
        at::Tensor sum = at::zeros({8, 3, 5, 5}, at::kDouble);
        for (const WeightTerm& term : terms) {
            QCOMPARE(term.integers.scalar_type(), at::kChar);
            sum += term.integers.to(at::kDouble)
                * term.scales.to(at::kDouble).reshape({8, 1, 1, 1});
        }
        const at::Tensor off = (sum - weight.to(at::kDouble)).abs().flatten(1).amax(1);
        const at::Tensor largest = weight.to(at::kDouble).abs().flatten(1).amax(1);
        QVERIFY(off.le(largest / 64515).all().item<bool>());
        QVERIFY(off[4].item<double>() == 0);
    }
    /// Larger than a block, and exact at the beginning: both terms cover every channel.
    void manyBlocks()
    {
        at::Tensor weight = at::randn({3000, 1024});
        weight.narrow(0, 0, 1100).copy_(at::randint(-127, 128, {1100, 1024}));
        weight.narrow(0, 0, 1100).select(1, 0).fill_(127);
        const auto terms = splitWeight(weight);
        QCOMPARE(terms.size(), std::size_t(2));
        for (const std::int64_t first : {0, 1024, 2100, 2999}) {
            const auto part = splitWeight(weight.narrow(0, first, 1));
            for (std::size_t t = 0; t < part.size(); ++t) {
                QVERIFY(terms[t].integers.narrow(0, first, 1).equal(part[t].integers));
                QVERIFY(terms[t].scales.narrow(0, first, 1).equal(part[t].scales));
            }
        }
        QVERIFY(terms[1].integers.narrow(0, 0, 1100).eq(0).all().item<bool>());
        QVERIFY(splitWeight(at::zeros({4, 0})).empty());
    }
    void notFinite()
    {
        at::Tensor weight = at::randn({4, 8});
        weight[1][2] = std::numeric_limits<double>::infinity();
        QVERIFY(splitWeight(weight).empty());
    }
};

QTEST_GUILESS_MAIN(TestWeightTerms)
#include "tst_weight_terms.moc"
