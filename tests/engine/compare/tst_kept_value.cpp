// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/sweep/kept_value.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

using namespace qs;

namespace {

at::Tensor integers(const at::Tensor& values)
{
    return at::quantize_per_tensor(values, 0.1, 3, at::kQUInt8);
}

bool isEqual(const at::Tensor& a, const at::Tensor& b)
{
    return at::equal(a.int_repr(), b.int_repr()) && a.q_scale() == b.q_scale()
        && a.q_zero_point() == b.q_zero_point();
}

} // namespace

/// What is kept of a value is not written into, and kernels see it as it was.
class TestKeptValue : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void integersStandApart_data()
    {
        QTest::addColumn<at::Tensor>("tensor");
        const at::Tensor values = at::randn({2, 3, 4, 5});
        QTest::newRow("as made") << integers(values);
        QTest::newRow("channels last")
            << integers(values.contiguous(at::MemoryFormat::ChannelsLast));
        QTest::newRow("one place")
            << integers(at::randn({2, 3, 1, 1}).contiguous(at::MemoryFormat::ChannelsLast));
        QTest::newRow("transposed") << integers(values).transpose(1, 3);
        QTest::newRow("a part") << integers(values).narrow(1, 1, 2);
        QTest::newRow("nothing") << integers(at::empty({0, 3}));
    }

    void integersStandApart()
    {
        QFETCH(at::Tensor, tensor);
        const at::Tensor kept = unshared(tensor).toTensor();
        QVERIFY(isEqual(kept, tensor));
        QCOMPARE(kept.strides().vec(), tensor.strides().vec());
        QCOMPARE(kept.storage_offset(), tensor.storage_offset());
        QVERIFY(!kept.is_alias_of(tensor));
        const at::Tensor before = kept.int_repr();
        tensor.copy_(integers(at::full(tensor.sizes(), 2.0)));
        QVERIFY(at::equal(kept.int_repr(), before));
    }

    void partsOfTuples()
    {
        const at::Tensor values = at::randn({2, 3});
        const at::Tensor whole = integers(values);
        const at::IValue kept
            = unshared(c10::ivalue::Tuple::create({at::IValue(values), at::IValue(whole)}));
        const auto& parts = kept.toTupleRef().elements();
        QVERIFY(parts[0].toTensor().is_same(values)); // floats are not written into
        QVERIFY(!parts[1].toTensor().is_alias_of(whole) && isEqual(parts[1].toTensor(), whole));
        QCOMPARE(keptBytes(kept), std::optional<std::size_t>(6 * sizeof(float) + 6));
        QVERIFY(!keptBytes(at::IValue("a word")));
    }
};

QTEST_GUILESS_MAIN(TestKeptValue)
#include "tst_kept_value.moc"
