// SPDX-License-Identifier: Apache-2.0
// What histograms tell of a value's error, against the values themselves.
#include "engine/convert/quantize_weights.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/convert/ranges/value_alternatives.h"
#include "engine/convert/ranges/value_noise.h"

#include <QtTest/QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace qs;

namespace {

constexpr int kValues = 400000;

enum class Shape
{
    Normal,
    Rectified, ///< half of the values are zero
    Outliers,
    Uniform
};

std::vector<float> valuesOf(Shape shape)
{
    std::mt19937 random(5);
    std::normal_distribution<float> normal(0.3f, 1.0f);
    std::uniform_real_distribution<float> uniform(-1.0f, 3.0f);
    std::vector<float> out;
    for (int i = 0; i < kValues; ++i) {
        float x = shape == Shape::Uniform ? uniform(random) : normal(random);
        if (shape == Shape::Rectified)
            x = std::max(x, 0.0f);
        if (shape == Shape::Outliers && i % 5000 == 0)
            x *= 8;
        out.push_back(x);
    }
    return out;
}

ObserverStats statsOf(const std::vector<float>& x, const ObserverSpec& spec)
{
    ObserverStats stats;
    stats.spec = spec;
    stats.count = std::int64_t(x.size());
    const auto [least, most] = std::minmax_element(x.begin(), x.end());
    stats.min = *least;
    stats.max = *most;
    stats.batchMin = {stats.min};
    stats.batchMax = {stats.max};
    Histogram& h = stats.exact;
    h.min = stats.min;
    h.max = stats.max;
    h.counts.assign(std::size_t(spec.bins), 0);
    const double width = (double(h.max) - double(h.min)) / spec.bins;
    for (const float value : x)
        ++h.counts[std::min(std::size_t((double(value) - double(h.min)) / width),
                            h.counts.size() - 1)];
    stats.fine = h;
    return stats;
}

ObserverSpec histogramSpec(DType dtype = DType::QUInt8)
{
    ObserverSpec spec;
    spec.kind = ObserverKind::Histogram;
    spec.dtype = dtype;
    return spec;
}

/// The same sums over the values.
ValueNoise measured(const std::vector<float>& x, const QParams& qparams)
{
    const QuantRange stored = storageRange(qparams.dtype);
    const double scale = double(qparams.scale[0]), zero = double(qparams.zeroPoint[0]);
    ValueNoise out;
    for (const float value : x) {
        const double free = std::nearbyint(double(value) / scale) + zero;
        const double kept = std::clamp(free, double(stored.min), double(stored.max));
        const double error = (kept - zero) * scale - double(value);
        const double low = (double(stored.min) - zero) * scale;
        const double high = (double(stored.max) - zero) * scale;
        const bool outside = double(value) < low || double(value) > high;
        (outside ? out.clipping : out.rounding) += error * error;
        out.beyond += outside;
        out.signal += double(value) * double(value);
    }
    for (double* sum : {&out.signal, &out.clipping, &out.rounding, &out.beyond})
        *sum /= double(x.size());
    return out;
}

bool near(double a, double b, double share)
{
    return std::abs(a - b) <= share * std::max(std::abs(a), std::abs(b));
}

} // namespace

class TestValueNoise : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void histogramsTellWhatValuesLose_data()
    {
        QTest::addColumn<int>("shape");
        QTest::newRow("normal") << int(Shape::Normal);
        QTest::newRow("rectified") << int(Shape::Rectified);
        QTest::newRow("outliers") << int(Shape::Outliers);
        QTest::newRow("uniform") << int(Shape::Uniform);
    }
    void histogramsTellWhatValuesLose()
    {
        QFETCH(int, shape);
        const std::vector<float> x = valuesOf(Shape(shape));
        const ObserverStats stats = statsOf(x, histogramSpec());
        double worst = 0;
        int measuredOnes = 0;
        for (const Alternative& one : valueAlternatives(stats)) {
            if (one.qparams.scale.empty()) {
                QCOMPARE(one.name, std::string("float"));
                QVERIFY(!one.sqnrDb);
                continue;
            }
            const double wanted = *measured(x, one.qparams).sqnrDb();
            const double off = std::abs(wanted - *one.sqnrDb);
            // At 16 bits a step is a part of a bin: how the values lie inside of the outermost bins
            // begins to count.
            const bool fine = one.spec.dtype == DType::Int16;
            QVERIFY2(off < (fine ? 0.5 : 0.02), (one.name + ' ' + std::to_string(off)).c_str());
            worst = std::max(worst, fine ? 0 : off);
            ++measuredOnes;
        }
        qInfo("%d alternatives, at most %.4f dB off at 8 bits", measuredOnes, worst);
        QVERIFY(measuredOnes >= 7);
    }

    /// A range dragged inwards: both parts of the error, and what is cut off.
    void clippingAndRoundingAreToldApart()
    {
        const std::vector<float> x = valuesOf(Shape::Normal);
        const ObserverStats stats = statsOf(x, histogramSpec());
        for (const double reach : {4.0, 2.0, 1.0, 0.5}) {
            const QParams qparams
                = qparamsFromRange(stats.spec, {float(-reach)}, {float(reach * 0.8)});
            const auto told = valueNoise(stats.fine, qparams, storageRange(DType::QUInt8));
            const ValueNoise wanted = measured(x, qparams);
            QVERIFY(told);
            QVERIFY(near(told->clipping, wanted.clipping, 0.01));
            QVERIFY(near(told->rounding, wanted.rounding, 0.02));
            QVERIFY(near(told->beyond, wanted.beyond, 0.01));
            QVERIFY(near(told->signal, wanted.signal, 0.001));
        }
    }

    /// The share beyond is of the ends that it is asked for, and those are where values saturate.
    void theShareIsOfTheHeldRange()
    {
        const std::vector<float> x = valuesOf(Shape::Normal);
        ObserverSpec spec = histogramSpec();
        spec.reduceRange = true;
        const ObserverStats stats = statsOf(x, spec);
        for (const float reach : {0.2f, 0.5f, 1.0f}) {
            const QParams qparams = qparamsFromRange(spec, {-reach}, {reach});
            const ValueEnds held = heldEnds(qparams), chosen = chosenEnds(qparams);
            QVERIFY(held.high > 2 * chosen.high && held.low == chosen.low);
            const auto noise = valueNoise(stats.fine, qparams, storageRange(qparams.dtype));
            const double share = shareOutside(stats.fine, held.low, held.high);
            QVERIFY(near(noise->beyond, share, 1e-12));
            QVERIFY(near(share, measured(x, qparams).beyond, 0.01));
            QVERIFY(shareOutside(stats.fine, chosen.low, chosen.high) > share);
        }
        QCOMPARE(shareOutside({}, 0, 1), 0.0);
    }

    /// reduce_range shapes the scale alone: the stored integers go on to the type's end.
    void sevenBitsSaturateAtTheTypesEnd()
    {
        const std::vector<float> x = valuesOf(Shape::Normal);
        ObserverSpec spec = histogramSpec();
        spec.reduceRange = true;
        const ObserverStats stats = statsOf(x, spec);
        const QParams qparams = qparamsFromRange(spec, {-1.0f}, {1.0f});
        const auto told = valueNoise(stats.fine, qparams, storageRange(DType::QUInt8));
        const auto narrow = valueNoise(stats.fine, qparams, {qparams.quantMin, qparams.quantMax});
        QVERIFY(near(told->clipping, measured(x, qparams).clipping, 0.01));
        QVERIFY(told->clipping < narrow->clipping / 2);
    }

    void exactnessIsTold()
    {
        const std::vector<float> x = valuesOf(Shape::Outliers);
        const auto named = [](const std::vector<Alternative>& list, const char* name) {
            for (const Alternative& one : list)
                if (one.name == name)
                    return one;
            qFatal("no alternative %s", name);
        };
        const ObserverStats seen = statsOf(x, histogramSpec());
        const auto list = valueAlternatives(seen);
        QVERIFY(list.front().current && list.front().name == "histogram");
        QCOMPARE(list.front().qparams, chooseQParams(seen));
        for (const char* name : {"histogram, mse", "minmax", "moving_average_minmax", "7 bits"})
            QVERIFY2(named(list, name).exactParameters, name);
        QVERIFY(!named(list, "minmax").exactError);
        // No other range of the same grid has a smaller error than the one that looks for it.
        for (const char* name :
             {"histogram", "histogram, entropy", "histogram, percentile", "minmax"})
            QVERIFY2(*named(list, name).sqnrDb <= *named(list, "histogram, mse").sqnrDb + 0.01,
                     name);
        QVERIFY(*named(list, "minmax").sqnrDb < *named(list, "histogram, mse").sqnrDb);
        QVERIFY(*named(list, "16 bits").sqnrDb > *list.front().sqnrDb);
        QVERIFY(*named(list, "7 bits").sqnrDb < *list.front().sqnrDb);
        // From a minimum-maximum observer a histogram's choice is an estimate.
        ObserverSpec plain = histogramSpec();
        plain.kind = ObserverKind::MinMax;
        ObserverStats other = statsOf(x, plain);
        other.exact = {};
        const auto estimated = valueAlternatives(other);
        QVERIFY(estimated.front().current && estimated.front().name == "minmax");
        QVERIFY(!named(estimated, "histogram, mse").exactParameters);
        QVERIFY(named(estimated, "moving_average_minmax").exactParameters);
        QCOMPARE(*named(estimated, "histogram, mse").sqnrDb, *named(list, "histogram, mse").sqnrDb);
    }

    void nothingIsToldOfNothing()
    {
        ObserverStats stats;
        stats.spec = histogramSpec();
        QVERIFY(valueAlternatives(stats).empty());
        QParams channels;
        channels.scale = {1, 2};
        channels.zeroPoint = {0, 0};
        QVERIFY(!valueNoise(Histogram {0, 1, {1, 2}}, channels, {0, 255}));
        channels.scale = {1};
        channels.zeroPoint = {0};
        QVERIFY(!valueNoise(Histogram {2, 2, {5, 0}}, channels, {0, 255}));
        QVERIFY(!valueNoise({}, channels, {0, 255}));
    }
};

QTEST_GUILESS_MAIN(TestValueNoise)
#include "tst_value_noise.moc"
