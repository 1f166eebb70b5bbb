// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/control/tuple_runner.h"
#include "engine/graph/operators/tuple_ops.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

using namespace qs;

class TestTupleOps : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void structuresReadAsTheyPrint()
    {
        for (const char* text : {"Tensor", "()", "(Tensor,)", "(Tensor, (Tensor, Tensor))",
                                 "((int, None), (my.Class,))"}) {
            const auto read = parseTupleStructure(text);
            QVERIFY2(read, text);
            QCOMPARE(read->text(), std::string(text));
        }
        QCOMPARE(parseTupleStructure("(Tensor, (Tensor, Tensor))")->leafCount(), std::size_t(3));
        for (const std::string& text :
             {std::string(), std::string("(Tensor"), std::string("Tensor)"), std::string("(,)"),
              std::string("(Tensor Tensor)"), std::string(100000, '(')})
            QVERIFY2(!parseTupleStructure(text), text.substr(0, 40).c_str());
    }
    void elementsAreReadAsPythonReadsThem()
    {
        const at::IValue tuple(c10::ivalue::Tuple::create({at::IValue(1), at::IValue(2)}));
        QCOMPARE(runTupleOp(kGetItemTarget, {tuple, -1})->toInt(), std::int64_t(2));
        QCOMPARE(runTupleOp("_operator.getitem", {tuple, 0})->toInt(), std::int64_t(1));
        for (const int index : {2, -3}) {
            const auto outside = runTupleOp(kGetItemTarget, {tuple, index});
            QVERIFY(!outside);
            QVERIFY(outside.error().message.find("of a tuple of 2") != std::string::npos);
        }
        QVERIFY(
            at::equal(runTupleOp(kGetItemTarget, {at::arange(6).reshape({2, 3}), -1})->toTensor(),
                      at::tensor({3, 4, 5})));
        QVERIFY(!runTupleOp(kGetItemTarget, {at::IValue(1.5), 0}));
        QVERIFY(!runTupleOp(kTupleTarget, {at::IValue(1)}));
    }
};

QTEST_GUILESS_MAIN(TestTupleOps)
#include "tst_tuple_ops.moc"
