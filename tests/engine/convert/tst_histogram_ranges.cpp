// SPDX-License-Identifier: Apache-2.0
// Ranges from kept histograms against NumPy's percentiles and plain searches over the samples.
#include "engine/convert/ranges/histogram_ranges.h"
#include "engine/io/npz.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <cmath>
#include <cstring>
#include <map>

using namespace qs;

namespace {

// One set of samples and what was found for it elsewhere.
struct Case
{
    std::vector<float> x;
    Histogram histogram;
    ObserverSpec spec;
    std::vector<double> percentiles, divergence;
    double squared = 0;
    double binWidth() const
    {
        return (double(histogram.max) - histogram.min) / double(histogram.counts.size());
    }
};

double squaredError(const std::vector<float>& x, const QParams& qparams)
{
    const double scale = qparams.scale[0];
    double sum = 0;
    for (float value : x) {
        const double q = std::clamp(std::nearbyint(value / scale) + double(qparams.zeroPoint[0]),
                                    double(qparams.quantMin), double(qparams.quantMax));
        const double error = (q - double(qparams.zeroPoint[0])) * scale - value;
        sum += error * error;
    }
    return sum / double(x.size());
}

ObserverStats statsOf(const Case& one, RangeMethod method)
{
    ObserverStats stats;
    stats.spec = one.spec;
    stats.spec.range = method;
    stats.exact = one.histogram;
    stats.min = one.histogram.min;
    stats.max = one.histogram.max;
    stats.count = std::int64_t(one.x.size());
    return stats;
}

} // namespace

class TestHistogramRanges : public QObject
{
    Q_OBJECT
private:
    QTemporaryDir m_folder;
    std::map<std::string, NpyArray> m_arrays;
    std::vector<Case> m_cases;

    template<class T>
    std::vector<T> values(const std::string& name)
    {
        const NpyArray& array = m_arrays.at(name);
        std::vector<T> out(std::size_t(array.elements()));
        if (!out.empty())
            std::memcpy(out.data(), array.bytes.data(), array.bytes.size());
        return out;
    }

    Case readCase(const std::string& n)
    {
        Case out;
        out.x = values<float>("x" + n);
        const auto range = values<float>("range" + n);
        out.histogram = {range[0], range[1], values<float>("h" + n)};
        out.percentiles = values<double>("percentiles" + n);
        out.divergence = values<double>("divergence" + n);
        out.squared = values<double>("squared" + n)[0];
        const auto kind = values<std::int64_t>("kind" + n);
        out.spec.kind = ObserverKind::Histogram;
        out.spec.dtype = kind[0] ? DType::QInt8 : DType::QUInt8;
        out.spec.qscheme = kind[0] ? QScheme::PerTensorSymmetric : QScheme::PerTensorAffine;
        out.spec.quantMin = kind[0] ? -kind[1] / 2 : 0;
        out.spec.quantMax = *out.spec.quantMin + kind[1] - 1;
        return out;
    }

private Q_SLOTS:
    void initTestCase()
    {
        QProcess python;
        python.start(
            QS_PYTHON,
            {QS_SOURCE_DIR "/tests/engine/convert/make_ranges_fixture.py", m_folder.path()});
        QVERIFY(python.waitForFinished(280000));
        QVERIFY2(python.exitCode() == 0, python.readAllStandardError().constData());
        auto content = readNpz(m_folder.filePath("arrays.npz").toStdString());
        QVERIFY2(content, content ? "" : content.error().line().c_str());
        for (auto& array : content->arrays)
            m_arrays[array.name] = std::move(array);
        for (std::size_t i = 0; m_arrays.contains("x" + std::to_string(i)); ++i)
            m_cases.push_back(readCase(std::to_string(i)));
        QCOMPARE(m_cases.size(), std::size_t(9));
    }

    void percentilesAreNumPys()
    {
        const auto percents = values<double>("percents");
        for (const Case& one : m_cases) {
            for (std::size_t p = 0; p < percents.size(); ++p) {
                const ValueRange got = percentileRange(one.histogram, percents[p]);
                // A gap between the samples at a quantile is all inside it.
                const double slack = 1.01 * one.binWidth();
                double below = 0, above = 0;
                for (float value : one.x) {
                    below += value < got.min - slack;
                    above += value > got.max + slack;
                }
                const double cut = double(one.x.size()) * (100 - percents[p]) / 200;
                QVERIFY(below <= cut + 1 && above <= cut + 1);
                if (percents[p] <= 99) {
                    QVERIFY(std::abs(got.min - one.percentiles[2 * p]) <= slack);
                    QVERIFY(std::abs(got.max - one.percentiles[2 * p + 1]) <= slack);
                }
            }
        }
    }

    void squaredErrorIsTheLeast()
    {
        int narrower = 0;
        for (const Case& one : m_cases) {
            const ValueRange got = mseRange(one.histogram, one.spec);
            const QParams chosen = qparamsFromRange(one.spec, {got.min}, {got.max});
            const double real = squaredError(one.x, chosen);
            QVERIFY2(real <= 1.02 * one.squared,
                     qPrintable(QString("%1, a plain search %2").arg(real).arg(one.squared)));
            const double told = expectedSquaredError(one.histogram, chosen);
            QVERIFY2(std::abs(told - real) <= 0.05 * real,
                     qPrintable(QString("predicted %1, real %2").arg(told).arg(real)));
            narrower += got.max < 0.9f * one.histogram.max || got.min > 0.9f * one.histogram.min;
        }
        QVERIFY(narrower >= 4); // tails are cut, uniform data are not
    }

    void divergenceIsTheLeast()
    {
        int checked = 0;
        for (const Case& one : m_cases) {
            const ValueRange got = entropyRange(one.histogram, one.spec);
            if (isSymmetric(one.spec.qscheme))
                QCOMPARE(got.min, -got.max);
            if (one.divergence.empty())
                continue;
            const double least = *std::min_element(one.divergence.begin(), one.divergence.end());
            const double width = one.histogram.max / double(one.histogram.counts.size());
            const double cost = one.divergence.at(std::size_t(std::llround(got.max / width)));
            QVERIFY2(cost <= least * 1.001 + 1e-12,
                     qPrintable(QString("%1, the least is %2").arg(cost).arg(least)));
            ++checked;
        }
        QCOMPARE(checked, 3);
    }

    void outliersAreCutByEntropy()
    {
        // A normal distribution with values 40 times as far: TensorRT's case for the method.
        const ValueRange folded = entropyRange(m_cases[0].histogram, m_cases[0].spec);
        QVERIFY(folded.max > 2.5f && folded.max < 0.3f * m_cases[0].histogram.max);
        const ValueRange both = entropyRange(m_cases[1].histogram, m_cases[1].spec);
        // Both ends at once: no less than a bin a level is kept.
        const Histogram& whole = m_cases[1].histogram;
        QVERIFY(both.max > 2.5f && both.min < -2.5f);
        QVERIFY(both.max - both.min < 0.3f * (whole.max - whole.min));
    }

    void fewValuesHaveNoDivergence()
    {
        // Zeros of a relu and some eighty values, each in a separate bin: a cut right after the
        // first of them would make both distributions that one bin.
        ObserverSpec spec;
        spec.dtype = DType::QUInt8;
        spec.qscheme = QScheme::PerTensorAffine;
        Histogram sparse {0, 1, std::vector<float>(2048, 0)};
        sparse.counts[0] = 48;
        for (std::size_t bin = 273; bin < 2048; bin += 22)
            sparse.counts[bin] = 1;
        sparse.counts[2047] = 1;
        const ValueRange got = entropyRange(sparse, spec);
        QVERIFY2(got.max > 0.9f, qPrintable(QString::number(got.max)));
        QCOMPARE(got.max, mseRange(sparse, spec).max);
    }

    void valuesFarFromZeroAreKept()
    {
        // All values lie in the far half: the first bins that hold any do not match the rest.
        ObserverSpec spec;
        spec.dtype = DType::QUInt8;
        spec.qscheme = QScheme::PerTensorAffine;
        Histogram far {1, 2, std::vector<float>(2048, 0)};
        for (std::size_t bin = 0; bin < 2048; ++bin)
            far.counts[bin] = std::floor(1 + float(bin * (2047 - bin)) / 50000);
        const ValueRange got = entropyRange(far, spec);
        QVERIFY2(got.max > 1.8f, qPrintable(QString::number(got.max)));
        const Histogram below {-2, -1, far.counts};
        QVERIFY(entropyRange(below, spec).min < -1.8f);
    }

    void specChoosesTheMethod()
    {
        const Case& one = m_cases[3]; // relu's output with one value far out
        std::map<RangeMethod, float> reach;
        for (RangeMethod method : {RangeMethod::Search, RangeMethod::MinMax,
                                   RangeMethod::Percentile, RangeMethod::Entropy, RangeMethod::Mse})
            reach[method] = chooseRange(statsOf(one, method)).max;
        QCOMPARE(reach[RangeMethod::MinMax], 30.0f);
        QVERIFY(reach[RangeMethod::Percentile] < 5);
        QVERIFY(reach[RangeMethod::Entropy] < 10);
        QVERIFY(reach[RangeMethod::Mse] > 10); // the one value is worth its steps
        const QParams chosen = chooseQParams(statsOf(one, RangeMethod::Percentile));
        QCOMPARE(chosen.scale[0], reach[RangeMethod::Percentile] / 255);
    }

    void aPointKeepsItself()
    {
        for (const Histogram& histogram : {Histogram {}, Histogram {2, 2, {5, 0, 0, 0}}}) {
            QCOMPARE(percentileRange(histogram, 99).max, histogram.max);
            QCOMPARE(entropyRange(histogram, {}).max, histogram.max);
            QCOMPARE(mseRange(histogram, {}).max, histogram.max);
        }
    }
};

QTEST_GUILESS_MAIN(TestHistogramRanges)
#include "tst_histogram_ranges.moc"
