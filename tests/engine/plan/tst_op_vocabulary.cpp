// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/names/op_vocabulary.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

OpName nameOf(const QString& target, const QString& moduleClass, const QString& torchFn)
{
    Node node;
    node.target = target.toStdString();
    node.scope.moduleClass = moduleClass.toStdString();
    node.torchFn = torchFn.toStdString();
    return opNameOf(node);
}

} // namespace

class TestOpVocabulary : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void names_data()
    {
        QTest::addColumn<QString>("target");
        QTest::addColumn<QString>("moduleClass");
        QTest::addColumn<QString>("torchFn");
        QTest::addColumn<QString>("name");
        const auto row = [](const char* target, const char* owner, const char* record,
                            const char* name) {
            QTest::addRow("%s %s %s", target, owner, record) << target << owner << record << name;
        };
        row("aten.conv2d.default", "torch.nn.Conv2d", "builtin_function_or_method.conv2d",
            "torch.nn.Conv2d");
        row("aten.convolution.default", "torch.nn.Conv2d", "", "torch.nn.Conv2d");
        row("aten::_convolution", "torch.nn.Conv2d", "", "torch.nn.Conv2d");
        row("aten.conv2d.padding", "my.Conv2d", "builtin_function_or_method.conv2d",
            "torch.nn.functional.conv2d");
        row("aten._native_batch_norm_legit_no_training.default", "torch.nn.BatchNorm2d", "",
            "torch.nn.BatchNorm2d");
        row("aten.addmm.default", "torch.nn.Linear", "", "torch.nn.Linear");
        row("aten.hardtanh.default", "torch.nn.ReLU6", "function.hardtanh", "torch.nn.ReLU6");
        row("aten.relu_.default", "torch.nn.ReLU", "function.relu", "torch.nn.ReLU");
        row("aten.gelu.default", "torch.nn.GELU", "", "torch.nn.GELU");
        row("aten.max_pool2d_with_indices.default", "torch.nn.MaxPool2d", "", "torch.nn.MaxPool2d");
        row("aten.relu.default", "Model", "function.relu", "torch.nn.functional.relu");
        row("aten.relu.default", "Model", "builtin_function_or_method.relu", "torch.relu");
        row("aten.relu.default", "Model", "method_descriptor.relu_", "relu");
        row("aten.add.Tensor", "Model", "method_descriptor.add", "operator.add");
        row("aten.add.Tensor", "Model", "method_descriptor.add_", "operator.add");
        row("aten.add.Tensor", "Model", "builtin_function_or_method.add", "torch.add");
        row("aten.add.Tensor", "torch.nn.Sequential", "", "operator.add");
        row("aten.floor_divide.default", "Model", "function.__floordiv__", "operator.floordiv");
        row("aten.upsample_nearest2d.vec", "Model", "function.interpolate",
            "torch.nn.functional.interpolate");
        row("aten.flatten.using_ints", "Model", "builtin_function_or_method.flatten",
            "torch.flatten");
        row("aten.reshape.default", "", "", "reshape");
        row("aten._softmax.default", "", "", "torch.nn.functional.softmax");
        row("aten.cat.default", "", "", "torch.cat");
        row("aten::conv2d", "", "", "torch.nn.functional.conv2d");
        row("aten::add_", "", "", "operator.add");
        row("aten::sigmoid", "", "", "torch.sigmoid");
    }
    void names()
    {
        QFETCH(QString, target);
        QFETCH(QString, moduleClass);
        QFETCH(QString, torchFn);
        QFETCH(QString, name);
        const OpName found = nameOf(target, moduleClass, torchFn);
        QCOMPARE(QString::fromStdString(found.name), name);
        QVERIFY(found.kind != OpName::Kind::Inside);
        QCOMPARE(found.isModule(),
                 moduleClass.startsWith("torch.nn.") && moduleClass != "torch.nn.Sequential");
    }
    void helpersAreInside()
    {
        QVERIFY(nameOf("aten.pad.default", "torch.nn.Conv2d", "function.pad").kind
                == OpName::Kind::Inside);
        QVERIFY(nameOf("aten.linear.default", "torch.nn.MultiheadAttention",
                       "function.multi_head_attention_forward")
                    .kind
                == OpName::Kind::Inside);
        QVERIFY(nameOf("aten.permute.default", "Model", "builtin_function_or_method.linear").kind
                == OpName::Kind::Inside);
    }
    void canonicalNames()
    {
        QCOMPARE(canonicalTypeName("torch.nn.modules.conv.Conv2d"), std::string("torch.nn.Conv2d"));
        QCOMPARE(canonicalTypeName("torch.conv2d"), std::string("torch.nn.functional.conv2d"));
        QCOMPARE(canonicalTypeName("torch.relu"), std::string("torch.relu"));
        QCOMPARE(canonicalTypeName("Tensor.reshape"), std::string("reshape"));
        QCOMPARE(canonicalTypeName("torch.nn.intrinsic.ConvReLU2d"),
                 std::string("torch.ao.nn.intrinsic.ConvReLU2d"));
        QCOMPARE(canonicalTypeName("relu_"), std::string("relu"));
    }
};

QTEST_GUILESS_MAIN(TestOpVocabulary)
#include "tst_op_vocabulary.moc"
