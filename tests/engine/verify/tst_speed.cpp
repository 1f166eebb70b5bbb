// SPDX-License-Identifier: Apache-2.0
// The report of the times of a float and an int8 model.
#include "engine/verify/speed.h"

#include <QtTest/QtTest>

#include <algorithm>

using namespace qs;

namespace {

/// Two kinds of operators, which take these parts of a call's 10 ms in float and 4 ms in int8.
SpeedReport report(double covered)
{
    SpeedReport speed;
    speed.floatMs = 10;
    speed.int8Ms = 4;
    speed.speedup = 2.5;
    speed.rounds = 9;
    speed.samples = 1;
    speed.operators
        = {{"convolution", 10 * covered, 3 * covered, 0, 0}, {kQuantizeKind, 0, 1 * covered, 0, 0}};
    return speed;
}

bool has(const std::vector<std::string>& lines, const std::string& part)
{
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(part) != std::string::npos;
    });
}

} // namespace

class TestSpeed : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void timesThatDoNotAddUpAreShares()
    {
        QVERIFY(!has(speedLines(report(1), true), "as shares"));
        QVERIFY(!has(speedLines(report(0.8), true), "as shares"));
        QVERIFY(has(speedLines(report(0.5), true), "they add up to 5 and 2 ms"));
        QVERIFY(has(speedLines(report(3), true), "they add up to 30 and 12 ms"));
    }

    void theOverheadAndWhyItIsSlower()
    {
        SpeedReport speed = report(1);
        QVERIFY(has(speedLines(speed, true), "quantizing and dequantizing takes 25 %"));
        QVERIFY(!has(speedLines(speed, true), "int8 is slower"));
        speed.speedup = 0.8;
        QVERIFY(has(speedLines(speed, true),
                    "int8 is slower here: quantizing and dequantizing takes 25 %"));
        speed.operators[1].int8Ms = 0.1;
        QVERIFY(has(speedLines(speed, false), "no dot product of bytes"));
        QVERIFY(has(speedLines(speed, true), "too small"));
        speed.operators[0].fellBack = 2;
        speed.operators[0].fellBackMs = 2;
        QVERIFY(has(speedLines(speed, true), "2 operators still multiply in float"));
        speed.error = "no compiler";
        QCOMPARE(speedLines(speed, true), std::vector<std::string> {"not timed: no compiler"});
    }
};

QTEST_GUILESS_MAIN(TestSpeed)
#include "tst_speed.moc"
