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
        const auto number = guardTorch([]() -> Result<void> { throw 42; });
        QVERIFY(!number);
        QCOMPARE(QString::fromStdString(number.error().message),
                 "it threw an object that is not an exception");
    }

    void messagesHaveNoWordOfALibrary_data()
    {
        QTest::addColumn<QString>("thrown");
        QTest::addColumn<QString>("text");
        const auto row = [](const char* name, const char* thrown, const char* text) {
            QTest::newRow(name) << QString(thrown) << QString(text);
        };
        const char* kNumber = "it contains an invalid or too large number";
        row("number", "stoll", kNumber);
        row("map", "_Map_base::at", "it refers to something that it does not hold");
        row("other map", "map::at", "it refers to something that it does not hold");
        row("json", "[json.exception.type_error.302] type must be string, but is number",
            "type must be string, but is number");
        row("vector", "vector::_M_range_check: __n (which is 3) >= this->size() (which is 3)",
            "a list in it is shorter, or longer, than it should be");
        row("assertion",
            "isTuple() INTERNAL ASSERT FAILED at \"/pytorch/aten/src/ATen/core/ivalue.h\":1234, "
            "please report a bug to PyTorch. Expected Tuple but got Int",
            "Expected Tuple but got Int");
        row("assertion alone",
            "false INTERNAL ASSERT FAILED at \"../torch/csrc/jit/ir.cpp\":12, please report a bug "
            "to PyTorch. ",
            "PyTorch rejects it: inconsistent data");
        row("improve",
            "Expected sizes.size() == 4 to be true, but got false.  (Could this error message be "
            "improved?  If so, please report an enhancement request to PyTorch.)",
            "it needs sizes.size() == 4");
        row("enforce",
            "[enforce fail at alloc_cpu.cpp:121] err == 0. DefaultCPUAllocator: can't "
            "allocate memory: you tried to allocate 99 bytes",
            "out of memory: 99 bytes were asked for at once");
        row("no kernel",
            "Could not run 'aten::log.out' with arguments from the 'QuantizedCPU' backend. This "
            "could be because the operator doesn't exist for this backend, or was omitted",
            "PyTorch has no kernel of aten::log.out for quantized values");
        row("no kernel of a type", "\"median_cpu\" not implemented for 'Bool'",
            "PyTorch has no kernel for the type bool");
        row("types", "expected scalar type Long but found Float",
            "expected scalar type int64 but found float32");
        row("division", "ZeroDivisionError", "an integer is divided by zero");
        row("engine", "Didn't find engine for operation quantized::conv2d_prepack NoQEngine",
            "the int8 engine in use has no quantized::conv2d_prepack");
        row("classes",
            "Expected a value of type '__torch__.torch.classes.quantized.LinearPackedParamsBase "
            "(of Python compilation unit at: 0)' for argument 'W_prepack'",
            "Expected a value of type 'quantized.LinearPackedParamsBase' for argument "
            "'W_prepack'");
        row("links", "not supported yet see https://github.com/pytorch/pytorch/issues/1",
            "not supported yet");
        row("namespaces", "expected c10::ScalarType of at::Tensor and torch::jit::Node",
            "expected ScalarType of Tensor and Node");
        row("names of operators stay", "no kernel for my_torch::thing",
            "no kernel for my_torch::thing");
        row("reader", "PytorchStreamReader failed locating file data.pkl: file not found",
            "its archive is not sound: locating file data.pkl: file not found");
        row("script",
            "The following operation failed in the TorchScript interpreter.\nTraceback of "
            "TorchScript:\n  File x\nRuntimeError: mat1 and mat2 do not fit\n",
            "mat1 and mat2 do not fit");
        row("nothing", "", "PyTorch rejects it");
    }
    void messagesHaveNoWordOfALibrary()
    {
        QFETCH(QString, thrown);
        QFETCH(QString, text);
        const auto done
            = guardTorch([&]() -> Result<void> { throw std::runtime_error(thrown.toStdString()); });
        QVERIFY(!done);
        QCOMPARE(QString::fromStdString(done.error().message), text);
    }

    void warningsAreNotesAndToldOnce()
    {
        const auto warnTwice = [] {
            (void)guardTorch([]() -> Result<void> {
                for (int i = 0; i < 2; ++i) {
                    TORCH_WARN("padding is copied");
                }
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
