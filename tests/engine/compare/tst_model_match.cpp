// SPDX-License-Identifier: Apache-2.0
#include "engine/base/common_sequence.h"
#include "engine/compare/files/model_match.h"
#include "tests/support/deep_model.h"

#include <QtTest/QtTest>

using namespace qs;

/// Values of two models that stand for each other, and how soon the search ends after a cancel.
class TestModelMatch : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aModelMatchesItself()
    {
        const test::DeepModel deep(5);
        const auto match = matchModels(*deep.graph, *deep.graph, {});
        QVERIFY(match);
        QCOMPARE(match->values.size(), std::size_t(20));
        for (const ValueMatch& value : match->values)
            QVERIFY(value.floating == value.converted);
        QVERIFY(match->unmatchedFloat.empty() && match->unmatchedConverted.empty());
    }

    void aCancelEndsTheSearch()
    {
        const test::DeepModel deep(5);
        std::stop_source stop;
        stop.request_stop();
        const auto match = matchModels(*deep.graph, *deep.graph, JobContext(stop.get_token()));
        QVERIFY(!match);
        QVERIFY(match.error().code == ErrorCode::Cancelled);
    }

    /// The table of two models of thousands of operators takes a second.
    void aCancelIsSeenAmidstTheTable()
    {
        int asked = 0, compared = 0;
        const PlacePairs pairs = commonSequence(
            1000, 1000,
            [&](std::size_t i, std::size_t j) {
                ++compared;
                return i == j;
            },
            [&] { return ++asked <= 3; });
        QVERIFY(pairs.empty());
        QCOMPARE(compared, 3000);
    }
};

QTEST_GUILESS_MAIN(TestModelMatch)
#include "tst_model_match.moc"
