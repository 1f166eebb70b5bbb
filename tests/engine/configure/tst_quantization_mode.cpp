// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/qconfigs/qconfig_presets.h"
#include "engine/configure/quantization_mode.h"

#include <QtTest/QtTest>

using namespace qs;

class TestQuantizationMode : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    /// Requirement 2.7.
    void followsFromTheQConfig_data()
    {
        QTest::addColumn<QString>("preset");
        QTest::addColumn<QString>("mode");
        for (const char* name : {"x86", "qnnpack", "default", "float16_static"})
            QTest::newRow(name) << name << "static";
        for (const char* name : {"default_dynamic", "per_channel_dynamic", "float16_dynamic"})
            QTest::newRow(name) << name << "dynamic";
        for (const char* name : {"float_qparams_weight_only", "float_qparams_weight_only_4bit"})
            QTest::newRow(name) << name << "weight_only";
    }
    void followsFromTheQConfig()
    {
        QFETCH(QString, preset);
        QFETCH(QString, mode);
        const auto qconfig = presetQConfig(preset.toStdString());
        QVERIFY(qconfig);
        const auto found = quantizationMode(*qconfig);
        QVERIFY2(found, found ? "" : found.error().line().c_str());
        QCOMPARE(QString::fromStdString(std::string(quantizationModeName(*found))), mode);
    }

    void refusesPairsThatStandForNoMode()
    {
        QConfig qconfig = *presetQConfig("x86");
        qconfig.weight = observers::placeholder(DType::Float32);
        const auto none = quantizationMode(qconfig);
        QVERIFY(!none);
        QCOMPARE(none.error().code, ErrorCode::BadInput);
        QVERIFY(none.error().line().find("float32") != std::string::npos);
        qconfig.weight = observers::placeholder(DType::Float16); // beside quint8
        QVERIFY(!quantizationMode(qconfig));
    }
};

QTEST_GUILESS_MAIN(TestQuantizationMode)
#include "tst_quantization_mode.moc"
