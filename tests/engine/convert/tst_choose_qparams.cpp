// SPDX-License-Identifier: Apache-2.0
// Ranges and parameters chosen by us and by torch.ao must agree to the bit.
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/convert/ranges/histogram_search.h"
#include "engine/io/npz.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QtTest/QtTest>

#include <cstring>
#include <map>

using namespace qs;

class TestChooseQParams : public QObject
{
    Q_OBJECT
private:
    QTemporaryDir m_folder;
    std::map<std::string, NpyArray> m_arrays;

    template<class T>
    std::vector<T> values(const std::string& name)
    {
        const NpyArray& array = m_arrays.at(name);
        std::vector<T> out(std::size_t(array.elements()));
        std::memcpy(out.data(), array.bytes.data(), array.bytes.size());
        return out;
    }

private Q_SLOTS:
    void initTestCase()
    {
        QProcess python;
        python.start(
            QS_PYTHON,
            {QS_SOURCE_DIR "/tests/engine/convert/make_qparams_fixture.py", m_folder.path()});
        QVERIFY(python.waitForFinished(280000));
        QVERIFY2(python.exitCode() == 0, python.readAllStandardError().constData());
        auto content = readNpz(m_folder.filePath("arrays.npz").toStdString());
        QVERIFY2(content, content ? "" : content.error().line().c_str());
        for (auto& array : content->arrays)
            m_arrays[array.name] = std::move(array);
    }

    void searchEqualsTorchAo()
    {
        int count = 0;
        for (; m_arrays.contains("h" + std::to_string(count)); ++count) {
            const std::string n = std::to_string(count);
            const auto range = values<float>("range" + n);
            const auto wanted = values<float>("chosen" + n);
            const ValueRange got
                = searchHistogramRange({range[0], range[1], values<float>("h" + n)}, DType::QUInt8);
            QCOMPARE(got.min, wanted[0]);
            QCOMPARE(got.max, wanted[1]);
        }
        QVERIFY(count >= 60);
    }

    void parametersEqualTorchAo()
    {
        constexpr DType kTypes[] = {DType::QUInt8, DType::QInt8, DType::QInt32};
        const auto table = values<double>("table");
        for (std::size_t row = 0; row + 8 <= table.size(); row += 8) {
            const double* r = table.data() + row;
            ObserverSpec spec;
            spec.dtype = kTypes[int(r[2])];
            spec.qscheme = r[3] != 0 ? QScheme::PerTensorSymmetric : QScheme::PerTensorAffine;
            spec.quantMin = std::int64_t(r[4]);
            spec.quantMax = std::int64_t(r[5]);
            const QParams got = qparamsFromRange(spec, {float(r[0])}, {float(r[1])});
            const QByteArray where = "row " + QByteArray::number(qlonglong(row / 8));
            QVERIFY2(got.scale[0] == float(r[6]), where.constData());
            QVERIFY2(double(got.zeroPoint[0]) == r[7], where.constData());
        }
        QVERIFY(table.size() >= 8 * 3000);
    }

    void fixedParameters()
    {
        ObserverStats stats;
        stats.spec.kind = ObserverKind::FixedQParams;
        stats.spec.scale = 1.0 / 256;
        stats.spec.zeroPoint = 3;
        const QParams got = chooseQParams(stats);
        QCOMPARE(got.scale, std::vector {1.0f / 256});
        QCOMPARE(got.zeroPoint, std::vector<std::int64_t> {3});
        QCOMPARE(got.quantMax, std::int64_t(255));
        QVERIFY(got.calibrated);
    }

    void tableHoldsWhatHasIntegers()
    {
        Observations observations;
        const auto add = [&](ObserverKind kind, DType dtype, bool dynamic) {
            ObserverStats stats;
            stats.id = ObserverId(std::uint32_t(observations.observers.size() + 1));
            stats.spec.kind = kind;
            stats.spec.dtype = dtype;
            stats.spec.isDynamic = dynamic;
            observations.observers.push_back(stats);
        };
        add(ObserverKind::MinMax, DType::QUInt8, false);
        add(ObserverKind::Placeholder, DType::Float16, false);
        add(ObserverKind::ReuseInput, DType::QUInt8, false);
        add(ObserverKind::Placeholder, DType::QUInt8, true);
        const QParamsTable table = chooseAllQParams(observations);
        QCOMPARE(table.size(), std::size_t(1));
        QVERIFY(!table.at(ObserverId(1)).calibrated);
    }

    void sumsOfEveryLength()
    {
        // Whole numbers add exactly in any order: every element must be counted once.
        for (std::size_t count = 0; count < 700; ++count) {
            std::vector<float> data(count);
            for (std::size_t i = 0; i < count; ++i)
                data[i] = float(i + 1);
            QCOMPARE(torchSum(data.data(), count), float(count) * float(count + 1) / 2);
        }
    }
};

QTEST_GUILESS_MAIN(TestChooseQParams)
#include "tst_choose_qparams.moc"
