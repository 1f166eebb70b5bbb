// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/device_plugin.h"
#include "engine/kernels/self_check.h"

#include <QtTest/QtTest>

using namespace qs;

class TestKernelsGpu : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void initTestCase()
    {
        const CudaFacts facts = cudaFacts();
        if (!facts.why.empty())
            QSKIP(facts.why.c_str());
        const auto loaded = loadCudaPlugin();
        QVERIFY2(loaded, loaded ? "" : loaded.error().line().c_str());
    }
    void bodies_data()
    {
        QTest::addColumn<QString>("name");
        for (const auto& name : selfCheckNames())
            QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }
    void bodies()
    {
        QFETCH(QString, name);
        const SelfCheck check = runSelfCheck(name.toStdString(), "cuda:0");
        QVERIFY2(check.passed(), check.detail.c_str());
        QVERIFY(check.cudaOk.value_or(false));
    }
};

QTEST_GUILESS_MAIN(TestKernelsGpu)
#include "tst_kernels_gpu.moc"
