// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/outline.h"
#include "tests/support/deep_model.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <limits>
#include <stop_token>
#include <thread>

using namespace qs;
using namespace qs::test;

namespace {

/// Processor time of this program: what else the machine does is not in it.
double processorSeconds()
{
    return double(std::clock()) / CLOCKS_PER_SEC;
}

double convertSeconds(const DeepModel& deep)
{
    const double start = processorSeconds();
    const auto made = outlineConversion(deep.graph, deep.plan, deep.recipe);
    return made ? processorSeconds() - start : -1;
}

constexpr double kSoon = 0.2; ///< seconds

/// Processor time from a stop, so long after the start, to the end; 0 where it was done before.
/// Infinite where it ended for another reason.
double secondsToStop(const DeepModel& deep, double after)
{
    std::stop_source stop;
    double stopped = 0;
    std::thread timer([&] {
        std::this_thread::sleep_for(std::chrono::duration<double>(after));
        stopped = processorSeconds();
        stop.request_stop();
    });
    const auto made
        = outlineConversion(deep.graph, deep.plan, deep.recipe, JobContext(stop.get_token()));
    const double over = processorSeconds();
    timer.join();
    if (made)
        return 0;
    return made.error().code == ErrorCode::Cancelled ? over - stopped
                                                     : std::numeric_limits<double>::infinity();
}

} // namespace

/// All forms of a model, to be read before anything is calibrated.
class TestOutline : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void growsWithTheModel()
    {
        const DeepModel small(500), large(4000);
        QVERIFY(small.plan->quantizedOps > 1000);
        double least = convertSeconds(small), most = convertSeconds(large);
        for (int i = 0; i < 2; ++i) {
            least = std::min(least, convertSeconds(small));
            most = std::min(most, convertSeconds(large));
        }
        QVERIFY(least > 0);
        // Eight times the operators: 8 where it is linear, 64 where it is quadratic.
        QVERIFY2(most < 24 * least,
                 qPrintable(QStringLiteral("%1 s and %2 s").arg(least).arg(most)));
    }

    /// Wherever it is stopped, it is over soon, and it says how far it is.
    void stopsAndReports()
    {
        const DeepModel deep(1500);
        int reports = 0;
        double whole = 0;
        {
            const JobContext job({}, [&](const Progress&) { ++reports; });
            const double start = processorSeconds();
            QVERIFY(outlineConversion(deep.graph, deep.plan, deep.recipe, job));
            whole = processorSeconds() - start;
        }
        QVERIFY2(reports >= 8, qPrintable(QString::number(reports)));
        double worst = 0;
        for (const double part :
             {0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}) {
            // What another program does to a shared core it seldom does three times.
            double least = std::numeric_limits<double>::max();
            for (int i = 0; i < 3 && least >= kSoon; ++i)
                least = std::min(least, secondsToStop(deep, whole * part));
            worst = std::max(worst, least);
        }
        QVERIFY2(worst < kSoon, qPrintable(QString::number(worst)));
    }
};

QTEST_GUILESS_MAIN(TestOutline)
#include "tst_outline.moc"
