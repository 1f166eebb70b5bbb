// SPDX-License-Identifier: Apache-2.0
// The integers of two runs: differences in steps, and the report of them.
#include "engine/base/decibels.h"
#include "engine/verify/certificate_rows.h"
#include "engine/verify/node_steps.h"
#include "engine/verify/own_integers.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

using namespace qs;

namespace {

/// `size` zeros, of which the first differ by `steps`.
at::Tensor integers(std::int64_t size, const std::vector<std::int64_t>& steps = {})
{
    at::Tensor made = at::zeros({size}, at::kChar);
    for (std::size_t i = 0; i < steps.size(); ++i)
        made[std::int64_t(i)] = steps[i];
    return made;
}

} // namespace

class TestNodeSteps : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void eachNodeIsCountedByItsSteps()
    {
        const NodeIntegers ours {
            {"a", integers(200), {}}, {"b", integers(40), {}}, {"hidden", integers(3), {}}};
        const auto steps = stepsApart(ours,
                                      {{"a", integers(200, {1, -1})},
                                       {"b", integers(40, {1, 2, -3, 4, 8, 9, 16, 17, -100})}});
        QVERIFY(steps);
        QCOMPARE(steps->nodes, 2);
        QCOMPARE(steps->byNode.at(0).bins, (std::array<std::int64_t, 7> {198, 2, 0, 0, 0, 0, 0}));
        QCOMPARE(steps->byNode.at(1).bins, (std::array<std::int64_t, 7> {31, 1, 1, 2, 1, 2, 2}));
        QCOMPARE(steps->largest, 100);
        QCOMPARE(steps->firstNode, std::string("b"));
        QVERIFY(steps->startsWithTies); // 2 of 200 by one step
        QVERIFY(!stepsApart(ours, {}));
    }

    void moreThanTiesIsAFault()
    {
        const NodeIntegers ours {{"a", integers(200), {}}};
        const std::vector<at::Tensor> outputs {at::ones({4})};
        const auto fault = [&](const at::Tensor& a, const at::Tensor& output) {
            return faultAlone(*countAlone(ours, outputs, {{"a", a}, {"output.0", output}}));
        };
        QCOMPARE(fault(integers(200, {1, 1}), at::ones({4})), std::string());
        QVERIFY(fault(integers(200, {1, 1, 1}), at::ones({4})).find("node 'a'") == 0);
        QVERIFY(fault(integers(200, {2}), at::ones({4})).find("node 'a'") == 0);
        QVERIFY(fault(integers(200), at::full({4}, 1.01)).find("40.0 dB, 60 dB")
                != std::string::npos);
    }

    /// Values that lay exactly between two steps may fall on either side, however many they are.
    void tiesMayBeMany()
    {
        const at::Tensor values
            = at::arange(200, at::kDouble).mul(0.05); // every other one is a tie
        const at::Tensor halfway = halfwayOf(values, 0.1, 3);
        QCOMPARE(halfway.sum().item<std::int64_t>(), std::int64_t(100));
        const at::Tensor own = values.div(0.1).add(3).floor().to(at::kByte);
        const NodeIntegers ours {{"a", own, halfway}};
        const auto alone = countAlone(ours, {}, {{"a", own + halfway.to(at::kByte)}});
        QCOMPARE(alone->one, std::int64_t(100));
        QCOMPARE(alone->ties, std::int64_t(100));
        QCOMPARE(faultAlone(*alone), std::string());
        const auto others
            = countAlone(ours, {}, {{"a", own + halfway.logical_not().to(at::kByte)}});
        QCOMPARE(others->ties, std::int64_t(0));
        QVERIFY(faultAlone(*others).find("node 'a'") == 0);
    }

    /// Which of equal scores are chosen is each runtime's own; what is not equal is a fault.
    void choicesAmongEqualsAreNone()
    {
        const at::Tensor scores = at::tensor({5.0F, 7.0F, 5.0F, 1.0F});
        const NodeIntegers ours {{"places", at::tensor({1, 0}), {}, scores, 0}};
        const auto alone = [&](const std::vector<std::int64_t>& places) {
            return countAlone(ours, {}, {{"places", at::tensor(places)}});
        };
        QCOMPARE(alone({1, 2})->choices, std::int64_t(1));
        QCOMPARE(alone({1, 2})->worse, std::string());
        QVERIFY(!alone({1, 0})); // as ours: nothing to tell
        QCOMPARE(alone({1, 3})->worse, std::string("places"));
        QCOMPARE(alone({1, 4})->worse, std::string("places"));
        QVERIFY(!stepsApart(ours, {{"places", at::tensor({1, 2})}}));
    }

    void theFarthestNodesComeFirst()
    {
        Certificate certificate;
        RuntimeVerdict verdict;
        verdict.runtime = "onnxruntime";
        verdict.outcome = RuntimeVerdict::Outcome::Passed;
        verdict.steps
            = stepsApart({{"a", integers(4), {}}, {"b", integers(4), {}}, {"c", integers(4), {}}},
                         {{"a", integers(4, {1})}, {"b", integers(4)}, {"c", integers(4, {2, 3})}});
        certificate.verdicts.push_back(verdict);
        const auto row = certificateRows(certificate).at(0);
        const std::vector<std::string> wanted {"'c': 2 of 4 integers differ, by 3 steps at most",
                                               "'a': 1 of 4 integers differ, by 1 step at most"};
        QCOMPARE(row.nodesApart, wanted);
        QCOMPARE(row.lines.size(), 1);
        QVERIFY(row.lines.at(0).starts_with(
            "of 12 integers of the first call in 3 nodes 1 are one step off, 2 more"));
        QVERIFY(certificateJson(certificate).find(row.lines.at(0)) != std::string::npos);
    }

    void eachFigureIsTheLeastOfAllOutputs()
    {
        Certificate certificate;
        RuntimeVerdict verdict;
        verdict.outputs = {{"scores", 60.0, 0, 48.9, 48.8},
                           {"boxes", kExactDb, 0, 20.1, 20.2},
                           {"classes", {}, 0, {}, {}}};
        certificate.verdicts = {verdict, RuntimeVerdict {}};
        const auto rows = certificateRows(certificate);
        QCOMPARE(rows[0].agreement, std::string("60.0 dB"));
        QCOMPARE(rows[0].there, std::string("20.1 dB"));
        QCOMPARE(rows[0].here, std::string("20.2 dB"));
        QCOMPARE(rows[1].here, std::string());
    }
};

QTEST_GUILESS_MAIN(TestNodeSteps)
#include "tst_node_steps.moc"
