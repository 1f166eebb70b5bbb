// SPDX-License-Identifier: Apache-2.0
// Our observers and torch.ao's, fed the same tensors: state and quantization parameters must agree
// to the bit.
#include "engine/calibrate/observers/observer_factory.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/io/npz.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <cstring>
#include <map>

using namespace qs;

namespace {

std::string text(const QJsonValue& value)
{
    return value.toString().toStdString();
}

ObserverSpec specFrom(const QJsonObject& json)
{
    ObserverSpec spec;
    spec.kind = *observerKindFromName(text(json["observer"]));
    spec.dtype = *dtypeFromName(text(json["dtype"]));
    spec.qscheme = *qschemeFromName(text(json["qscheme"]));
    if (json.contains("quant_min")) {
        spec.quantMin = json["quant_min"].toInt();
        spec.quantMax = json["quant_max"].toInt();
    }
    spec.reduceRange = json["reduce_range"].toBool(false);
    spec.eps = json["eps"].toDouble(spec.eps);
    spec.bins = json["bins"].toInt(spec.bins);
    spec.chAxis = json["ch_axis"].toInt(spec.chAxis);
    spec.averagingConstant = json["averaging_constant"].toDouble(spec.averagingConstant);
    return spec;
}

template<class T>
std::vector<T> valuesOf(const NpyArray& array)
{
    std::vector<T> out(std::size_t(array.elements()));
    std::memcpy(out.data(), array.bytes.data(), array.bytes.size());
    return out;
}

bool sameBits(const std::vector<float>& a, const std::vector<float>& b)
{
    // -0 and 0 are one value: which one a minimum finds depends on the order of comparison.
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

} // namespace

class TestObservers : public QObject
{
    Q_OBJECT
private:
    QTemporaryDir m_folder;
    QJsonArray m_cases;
    std::map<std::string, NpyArray> m_arrays;

    std::vector<float> floats(const std::string& name)
    {
        return valuesOf<float>(m_arrays.at(name));
    }
    at::Tensor tensor(const std::string& name)
    {
        NpyArray& array = m_arrays.at(name);
        return at::from_blob(array.bytes.data(), array.shape, at::kFloat);
    }

private Q_SLOTS:
    void initTestCase()
    {
        at::set_num_threads(2);
        QProcess python;
        python.start(
            QS_PYTHON,
            {QS_SOURCE_DIR "/tests/engine/calibrate/make_observer_fixture.py", m_folder.path()});
        QVERIFY(python.waitForFinished(280000));
        QVERIFY2(python.exitCode() == 0, python.readAllStandardError().constData());
        QFile file(m_folder.filePath("cases.json"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        m_cases = QJsonDocument::fromJson(file.readAll()).array();
        auto content = readNpz(m_folder.filePath("arrays.npz").toStdString());
        QVERIFY2(content, content ? "" : content.error().line().c_str());
        for (auto& array : content->arrays)
            m_arrays[array.name] = std::move(array);
        QVERIFY(m_cases.size() > 400);
    }

    void followTorchAo_data()
    {
        QTest::addColumn<int>("index");
        for (int i = 0; i < m_cases.size(); ++i) {
            const QJsonObject one = m_cases[i].toObject();
            const QByteArray spec
                = QJsonDocument(one["spec"].toObject()).toJson(QJsonDocument::Compact);
            QTest::newRow((one["kind"].toString() + " " + spec).toUtf8().constData()) << i;
        }
    }
    void followTorchAo()
    {
        QFETCH(int, index);
        const QJsonObject one = m_cases[index].toObject();
        const ObserverSpec spec = specFrom(one["spec"].toObject());
        const auto observer = makeObserver(ObserverId(1), spec);
        const int batches = one["batches"].toInt();
        for (int i = 0; i < batches; ++i)
            observer->observe(
                tensor("x" + std::to_string(one["data"].toInt()) + "_" + std::to_string(i)));
        const ObserverStats stats = observer->stats();
        const std::string prefix = "c" + std::to_string(index) + "_";
        const bool channels = isPerChannel(spec.qscheme);
        QVERIFY(sameBits(channels ? stats.channelMin : std::vector {stats.min},
                         floats(prefix + "min")));
        QVERIFY(sameBits(channels ? stats.channelMax : std::vector {stats.max},
                         floats(prefix + "max")));
        if (spec.kind == ObserverKind::Histogram)
            QVERIFY(sameBits(stats.exact.counts, floats(prefix + "hist")));
        QCOMPARE(int(stats.batchMin.size()), batches);
        const QParams params = chooseQParams(stats);
        QVERIFY(sameBits(params.scale, floats(prefix + "scale")));
        const auto zeros = valuesOf<double>(m_arrays.at(prefix + "zp"));
        for (std::size_t i = 0; i < zeros.size(); ++i)
            QCOMPARE(params.floatZeroPoint.empty() ? double(params.zeroPoint[i])
                                                   : double(params.floatZeroPoint[i]),
                     zeros[i]);
        QVERIFY(params.calibrated);
    }

    void fineHistogramHoldsEveryValue()
    {
        ObserverSpec spec;
        const auto observer = makeObserver(ObserverId(1), spec);
        for (const char* name : {"x0_0", "x0_1", "x0_2", "x0_3"})
            observer->observe(tensor(name));
        const ObserverStats stats = observer->stats();
        double sum = 0;
        for (const float count : stats.fine.counts)
            sum += count;
        QCOMPARE(sum, double(stats.count));
        QCOMPARE(stats.fine.min, stats.min);
        QCOMPARE(stats.fine.max, stats.max);
        QCOMPARE(stats.batchMin.size(), std::size_t(4));
    }

    void countsNonFinite()
    {
        for (const auto kind :
             {ObserverKind::MinMax, ObserverKind::Histogram, ObserverKind::MovingAverageMinMax}) {
            ObserverSpec spec;
            spec.kind = kind;
            const auto observer = makeObserver(ObserverId(1), spec);
            QCOMPARE(observer->observe(at::tensor({1.0f, NAN, -2.0f, INFINITY})), std::int64_t(2));
            QCOMPARE(observer->stats().min, -2.0f);
            QCOMPARE(observer->stats().nonFinite, std::int64_t(2));
        }
    }

    void emptyAndNeverRun()
    {
        for (const auto kind :
             {ObserverKind::MinMax, ObserverKind::Histogram, ObserverKind::PerChannelMinMax}) {
            ObserverSpec spec;
            spec.kind = kind;
            const auto observer = makeObserver(ObserverId(1), spec);
            observer->observe(at::empty({0, 3}));
            QVERIFY(!observer->stats().everRan());
            const QParams params = chooseQParams(observer->stats());
            QVERIFY(!params.calibrated);
            QCOMPARE(params.scale, std::vector {1.0f});
            QCOMPARE(params.zeroPoint, std::vector<std::int64_t> {0});
        }
    }

    // float32 counters stop at 2^24; so do torch.ao's, one table a thread.
    void bigCountsSaturateAsTorchDoes()
    {
        ObserverSpec spec;
        spec.kind = ObserverKind::Histogram;
        spec.bins = 4;
        at::Tensor x = at::zeros({(std::int64_t(1) << 25) + 4099});
        x[5] = 1.0f;
        const auto observer = makeObserver(ObserverId(1), spec);
        observer->observe(x);
        const at::Tensor wanted = at::histc(x, 4, 0, 1);
        for (int i = 0; i < 4; ++i)
            QCOMPARE(observer->stats().exact.counts[std::size_t(i)], wanted[i].item<float>());
        QCOMPARE(observer->stats().exact.counts[0], 33554432.0f);
    }

    void wrongNumberOfChannelsThrows()
    {
        ObserverSpec spec;
        spec.kind = ObserverKind::PerChannelMinMax;
        spec.qscheme = QScheme::PerChannelAffine;
        const auto observer = makeObserver(ObserverId(1), spec);
        observer->observe(at::ones({3, 2}));
        QVERIFY_EXCEPTION_THROWN(observer->observe(at::ones({4, 2})), c10::Error);
    }
};

QTEST_GUILESS_MAIN(TestObservers)
#include "tst_observers.moc"
