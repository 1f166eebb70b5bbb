// SPDX-License-Identifier: Apache-2.0
#include "engine/values/channel_axis.h"
#include "engine/values/channel_outliers.h"
#include "tests/support/tiny_graph.h"

#include <QtTest/QtTest>

using namespace qs;
using test::ints;
using test::TinyGraph;

namespace {

using Shape = std::vector<std::int64_t>;

ChannelError channel(double magnitude, double noise, std::size_t result = 0)
{
    ChannelError out;
    out.result = result;
    out.low = -magnitude;
    out.high = magnitude / 2;
    out.noise = noise;
    return out;
}

} // namespace

class TestChannelAxis : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void operatorsDecide_data()
    {
        QTest::addColumn<QString>("target");
        QTest::addColumn<int>("rank");
        QTest::addColumn<int>("axis");
        QTest::newRow("convolution of signals") << "aten.conv1d.default" << 3 << 1;
        QTest::newRow("convolution of images") << "aten.conv2d.default" << 4 << 1;
        QTest::newRow("transposed") << "aten.conv_transpose2d.input" << 4 << 1;
        QTest::newRow("batch norm") << "aten.batch_norm.default" << 3 << 1;
        QTest::newRow("linear") << "aten.linear.default" << 4 << 3;
        QTest::newRow("layer norm") << "aten.layer_norm.default" << 4 << 3;
        QTest::newRow("attention") << "aten.scaled_dot_product_attention.default" << 4 << 3;
        QTest::newRow("pooling") << "aten.max_pool1d.default" << 3 << 1;
        QTest::newRow("unknown images") << "aten.permute.default" << 4 << 1;
        QTest::newRow("unknown tokens") << "aten.permute.default" << 3 << 2;
        QTest::newRow("rows") << "aten.linear.default" << 2 << 1;
        QTest::newRow("one dimension") << "aten.linear.default" << 1 << -1;
    }
    void operatorsDecide()
    {
        QFETCH(QString, target);
        QFETCH(int, rank);
        TinyGraph graph;
        const Shape shape(std::size_t(rank), 6);
        const ValueRef x = graph.input("x", shape);
        const ValueRef made = graph.op(target.toStdString(), {{"input", x}}, shape);
        QTEST(channelAxis(*graph.finish({made}), made, std::size_t(rank)), "axis");
    }

    void whatKeepsTheShapePassesOn()
    {
        TinyGraph graph;
        const ValueRef x = graph.input("x", {2, 4, 4, 4});
        const ValueRef tokens = graph.op("aten.permute.default",
                                         {{"self", x}, {"dims", ints({0, 2, 3, 1})}}, {2, 4, 4, 4});
        const ValueRef norm
            = graph.op("aten.layer_norm.default", {{"input", tokens}}, {2, 4, 4, 4});
        const ValueRef rolled = graph.op("aten.roll.default", {{"self", norm}}, {2, 4, 4, 4});
        const ValueRef active = graph.op("aten.gelu.default", {{"self", rolled}}, {2, 4, 4, 4});
        const ValueRef images = graph.op("aten.conv2d.default", {{"input", x}}, {2, 8, 4, 4});
        const ValueRef relu = graph.op("aten.relu.default", {{"self", images}}, {2, 8, 4, 4});
        const ValueRef back = graph.op(
            "aten.permute.default", {{"self", active}, {"dims", ints({0, 3, 1, 2})}}, {2, 4, 4, 4});
        const GraphPtr built = graph.finish({active, relu, back});
        QCOMPARE(channelAxis(*built, active, 4), 3);
        QCOMPARE(channelAxis(*built, relu, 4), 1);
        QCOMPARE(channelAxis(*built, back, 4), 1); // an exchange of axes passes nothing on
    }

    /// Of a value whose producer says nothing, as an input of the model.
    void layersThatReadDecide_data()
    {
        QTest::addColumn<QString>("target");
        QTest::addColumn<int>("rank");
        QTest::addColumn<int>("axis");
        QTest::newRow("convolution of signals") << "aten.conv1d.default" << 3 << 1;
        QTest::newRow("linear of images") << "aten.linear.default" << 4 << 3;
        QTest::newRow("recurrent") << "aten.gru.input" << 3 << 2;
        QTest::newRow("no layer") << "aten.relu.default" << 4 << 1;
        QTest::newRow("product") << "aten.matmul.default" << 4 << 1;
    }
    void layersThatReadDecide()
    {
        QFETCH(QString, target);
        QFETCH(int, rank);
        TinyGraph graph;
        const Shape shape(std::size_t(rank), 6);
        const ValueRef x = graph.input("x", shape);
        const ValueRef copy = graph.op("aten.clone.default", {{"self", x}}, shape);
        const ValueRef made = graph.op(target.toStdString(), {{"input", copy}}, shape);
        const GraphPtr built = graph.finish({made});
        QTEST(channelAxis(*built, copy, std::size_t(rank)), "axis");
    }

    void outliersAreMeasuredByTheirMedian()
    {
        std::vector<ChannelError> channels(9, channel(1, 1));
        channels[2] = channel(kWideRange, 1);
        channels[4] = channel(kWideRange - 0.01, 1);
        channels[6] = channel(1, 20); // 20 of 28, where a ninth is fair
        channels.push_back(channel(100, 0, 1)); // another result: alone, its own median
        markOutliers(channels);
        for (std::size_t i = 0; i < channels.size(); ++i) {
            QCOMPARE(channels[i].isWide, i == 2);
            QCOMPARE(channels[i].isNoisy, i == 6);
        }
        std::vector<ChannelError> silent(4, channel(0, 0));
        silent[1] = channel(5, 0);
        markOutliers(silent);
        for (const ChannelError& one : silent)
            QVERIFY(!one.isWide && !one.isNoisy);
    }
};

QTEST_GUILESS_MAIN(TestChannelAxis)
#include "tst_channel_axis.moc"
