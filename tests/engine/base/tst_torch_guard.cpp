// SPDX-License-Identifier: Apache-2.0
#include "engine/base/log.h"
#include "engine/base/torch_guard.h"

#include <QtTest/QtTest>

#include <c10/util/Exception.h>

#include <stdexcept>
#include <thread>

using namespace qs;

class TestTorchGuard : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void init()
    {
        m_lines.clear();
        setLogSink([this](LogLevel level, const std::string& text) {
            m_lines.push_back((level == LogLevel::Note ? "note " : "other ")
                              + QString::fromStdString(text));
        });
    }
    void cleanup() { setLogSink({}); }

    void whatIsThrownIsAnError()
    {
        const auto done = guardTorch([]() -> Result<void> { throw std::runtime_error("a\nb"); });
        QVERIFY(!done);
        QCOMPARE(QString::fromStdString(done.error().message), "a");
    }

    void warningsAreNotesAndToldOnce()
    {
        const auto warnTwice = [] {
            (void)guardTorch([]() -> Result<void> {
                for (int i = 0; i < 2; ++i)
                    TORCH_WARN("padding is copied");
                return {};
            });
        };
        warnTwice();
        std::thread(warnTwice).join();
        QCOMPARE(m_lines, QStringList {"note PyTorch: padding is copied"});
    }

    void deprecationsAreNotForTheUser()
    {
        (void)guardTorch([]() -> Result<void> {
            TORCH_WARN_DEPRECATION("goes away");
            return {};
        });
        QCOMPARE(m_lines, QStringList {"other PyTorch: goes away"});
    }

private:
    QStringList m_lines;
};

QTEST_GUILESS_MAIN(TestTorchGuard)
#include "tst_torch_guard.moc"
