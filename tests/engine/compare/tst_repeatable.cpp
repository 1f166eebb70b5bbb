// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/sweep/repeatable.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/state.h"

#include <QtTest/QtTest>

using namespace qs;

namespace {

/// A graph of one operator over one input.
Graph graphOf(const std::string& target, const std::vector<NamedArgument>& more)
{
    GraphEdit edit;
    Node input;
    input.kind = NodeKind::Input;
    input.name = "x";
    input.outputs.push_back({"", {}});
    const ValueRef x {edit.insert(input), 0};
    Node node;
    node.name = "op";
    node.target = target;
    const bool isState = target == kSetStateTarget;
    if (isState)
        node.args.push_back({"holder", std::string("x")});
    const std::vector<std::string> names = target.find("attention") != std::string::npos
        ? std::vector<std::string> {"query", "key", "value"}
        : std::vector<std::string> {isState ? "value" : "input"};
    for (const std::string& name : names)
        node.args.push_back({name, x});
    node.args.insert(node.args.end(), more.begin(), more.end());
    node.outputs.push_back({"", {}});
    const ValueRef made {edit.insert(node), 0};
    Node output;
    output.kind = NodeKind::Output;
    output.name = "output";
    output.args.push_back({"", made});
    edit.insert(output);
    return edit.build();
}

} // namespace

class TestRepeatable : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void operators_data()
    {
        QTest::addColumn<QString>("target");
        QTest::addColumn<QString>("argument");
        QTest::addColumn<double>("number"); // for "train" its truth
        QTest::addColumn<bool>("repeatable");
        const QString dropout = QStringLiteral("aten.dropout.default");
        const QString attention = QStringLiteral("aten.scaled_dot_product_attention.default");
        QTest::newRow("relu") << QStringLiteral("aten.relu.default") << QString() << 0.0 << true;
        QTest::newRow("evaluation") << dropout << QStringLiteral("train") << 0.0 << true;
        QTest::newRow("training") << dropout << QStringLiteral("train") << 1.0 << false;
        QTest::newRow("attention") << attention << QString() << 0.0 << true;
        QTest::newRow("attention drops")
            << attention << QStringLiteral("dropout_p") << 0.1 << false;
        QTest::newRow("noise") << QStringLiteral("aten.rand_like.default") << QString() << 0.0
                               << false;
        QTest::newRow("unknown") << QStringLiteral("mine.op.default") << QString() << 0.0 << true;
    }

    void operators()
    {
        QFETCH(QString, target);
        QFETCH(QString, argument);
        QFETCH(double, number);
        QFETCH(bool, repeatable);
        std::vector<NamedArgument> more;
        if (argument == QLatin1String("train"))
            more = {{"p", 0.5}, {"train", number != 0}};
        else if (!argument.isEmpty())
            more = {{argument.toStdString(), number}};
        QCOMPARE(isRepeatable(graphOf(target.toStdString(), more)), repeatable);
    }

    void stateIsTakenOver() { QVERIFY(!isRepeatable(graphOf(std::string(kSetStateTarget), {}))); }
};

QTEST_GUILESS_MAIN(TestRepeatable)
#include "tst_repeatable.moc"
