// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/convert.h"
#include "tests/support/oracle_file.h"

#include <QtTest/QtTest>

#include <ATen/core/dispatch/Dispatcher.h>

using namespace qs;
using namespace qs::test;

namespace {

/// Equal to the bit, the sign of zero included.
bool sameBits(const at::Tensor& a, const at::Tensor& b)
{
    if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes())
        return false;
    const at::Tensor x = a.contiguous(), y = b.contiguous();
    return x.numel() == 0 || std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

} // namespace

class TestQuantizedDecomposed : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void registersTwiceWithoutHarm()
    {
        registerQuantizedDecomposed();
        registerQuantizedDecomposed();
        QVERIFY(c10::Dispatcher::singleton().findSchema(
            {"quantized_decomposed::quantize_per_tensor", ""}));
    }

    void equalsPythonToTheBit()
    {
        registerQuantizedDecomposed();
        QString error;
        const at::IValue cases
            = runOracle(QS_SOURCE_DIR "/tests/engine/convert/decomposed_oracle.py", {}, error);
        QVERIFY2(error.isEmpty(), qPrintable(error));
        QVERIFY(cases.toListRef().size() > 400);
        for (const at::IValue& c : cases.toListRef()) {
            const std::string name = entry(c, "op").toStringRef();
            const std::string overload = entry(c, "overload").toStringRef();
            const auto op = c10::Dispatcher::singleton().findSchema(
                {"quantized_decomposed::" + name, overload});
            QVERIFY2(op, name.c_str());
            torch::jit::Stack stack;
            for (const at::IValue& argument : entry(c, "args").toListRef())
                stack.push_back(argument);
            for (std::size_t i = stack.size(); i < op->schema().arguments().size(); ++i)
                stack.push_back(*op->schema().arguments()[i].default_value());
            op->callBoxed(stack);
            const auto wanted = entry(c, "out").toListRef();
            QCOMPARE(stack.size(), wanted.size());
            for (std::size_t i = 0; i < wanted.size(); ++i)
                QVERIFY2(sameBits(stack[i].toTensor(), wanted[i].toTensor()), name.c_str());
        }
    }

    void refusesARangeThatDoesNotFit()
    {
        const auto op = c10::Dispatcher::singleton().findSchema(
            {"quantized_decomposed::quantize_per_tensor", ""});
        torch::jit::Stack stack {at::ones({2}), 1.0, 0, 0, 300, std::int64_t(at::kByte)};
        QVERIFY_THROWS_EXCEPTION(c10::Error, op->callBoxed(stack));
    }
};

QTEST_GUILESS_MAIN(TestQuantizedDecomposed)
#include "tst_quantized_decomposed.moc"
