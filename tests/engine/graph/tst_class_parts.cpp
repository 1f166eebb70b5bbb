// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/class_parts.h"

#include <QtTest/QtTest>

using namespace qs;

class TestClassParts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void overloadsByParts()
    {
        QCOMPARE(partsTarget("sites.conv.default"), std::string("sites.conv.parts"));
        QCOMPARE(partsTarget("sites.conv.Scalar"), std::string("sites.conv.Scalar_parts"));
        for (const char* target : {"sites.conv.default", "sites.conv.Scalar"}) {
            QVERIFY(!isPartsTarget(target));
            QVERIFY(isPartsTarget(partsTarget(target)));
            QCOMPARE(wholeTarget(partsTarget(target)), std::string(target));
            QCOMPARE(wholeTarget(target), std::string(target));
        }
        QVERIFY(!isPartsTarget("parts"));
        QVERIFY(isPartsTarget("sites::conv.parts"));
    }

    void namesOfClasses()
    {
        const std::string full = "__torch__.torch.classes.sites.SparseTensor";
        QCOMPARE(plainClassName(full), std::string("sites::SparseTensor"));
        QCOMPARE(torchClassName("sites::SparseTensor"), full);
        QCOMPARE(torchClassName(full), full);
        QCOMPARE(plainClassName("List[Tensor]"), std::string("List[Tensor]"));
        QVERIFY(isForeignClass(full));
        QVERIFY(!isForeignClass("__torch__.torch.classes.quantized.LinearPackedParamsBase"));
        QVERIFY(!isForeignClass("__torch__.Net"));
        QCOMPARE(methodOperator(full, "dense"), std::string("sites::SparseTensor_dense"));
        QCOMPARE(methodOperator("sites::SparseTensor", "features_getter"),
                 std::string("sites::SparseTensor_features"));
        QCOMPARE(methodOperator(full, "__init__"), std::string("sites::SparseTensor_new"));
    }

    void classesThatATextNames()
    {
        const std::string text
            = "x = __torch__.torch.classes.sites.SparseTensor.__new__(__torch__.torch.classes."
              "sites.SparseTensor)\n"
              "y : __torch__.torch.classes.quantized.Conv2dPackedParamsBase\n"
              "z : List[__torch__.torch.classes.other.Thing2]\n"
              "__torch__.torch.classes.sites\n__torch__.torch.classes..a__torch__.torch.classes.b.";
        const std::vector<std::string> wanted {"__torch__.torch.classes.sites.SparseTensor",
                                               "__torch__.torch.classes.other.Thing2"};
        QVERIFY(foreignClassesIn(text) == wanted);
        QVERIFY(foreignClassesIn("").empty());
    }
};

QTEST_GUILESS_MAIN(TestClassParts)
#include "tst_class_parts.moc"
