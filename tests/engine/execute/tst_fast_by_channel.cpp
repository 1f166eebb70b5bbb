// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/interpreter.h"
#include "engine/graph/text/graph_parser.h"

#include <QtTest>

#include <ATen/ATen.h>

#include <limits>

using namespace qs;

/// Operators that run in channels-last layout because they are faster there give PyTorch's values
/// and strides.
class TestFastByChannel : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void poolsAsPyTorchDoes_data()
    {
        QTest::addColumn<QString>("arguments");
        QTest::addColumn<int>("size");
        QTest::addColumn<int>("dilation");
        QTest::addColumn<bool>("up");
        QTest::newRow("plain") << "" << 2 << 1 << false;
        QTest::newRow("dilated") << ", stride=[2, 2], padding=[1, 1], dilation=[2, 2]" << 3 << 2
                                 << false;
        QTest::newRow("rounded up")
            << ", stride=[2, 2], padding=[1, 1], dilation=[1, 1], ceil_mode=True" << 3 << 1 << true;
    }
    void poolsAsPyTorchDoes()
    {
        QFETCH(QString, arguments);
        QFETCH(int, size);
        QFETCH(int, dilation);
        QFETCH(bool, up);
        const std::string text
            = QStringLiteral("%x #1 = input \"x\" () -> (x: float32[2, 5, 12, 11])\n"
                             "%m #2 = op \"aten.max_pool2d.default\" (self=%x, "
                             "kernel_size=[%1, %1]%2) -> (m: float32[2, 5, 6, 6])\n"
                             "%output #3 = output \"\" (\"\"=%m) -> ()\n")
                  .arg(size)
                  .arg(arguments)
                  .toStdString();
        auto parsed = parseGraph(text);
        QVERIFY2(parsed, parsed ? "" : parsed.error().line().c_str());
        const auto graph = std::make_shared<const Graph>(std::move(*parsed));
        const auto runner = Interpreter::create(graph);
        QVERIFY(runner);
        at::Tensor x = at::randn({2, 5, 12, 11});
        x[0][1][3][4] = std::numeric_limits<float>::quiet_NaN();
        x[1][2][0][0] = std::numeric_limits<float>::infinity();
        x[1][3] = -std::numeric_limits<float>::infinity();
        const bool isPlain = arguments.isEmpty();
        const at::Tensor wanted = isPlain
            ? at::max_pool2d(x, {size, size})
            : at::max_pool2d(x, {size, size}, {2, 2}, {1, 1}, {dilation, dilation}, up);
        for (const at::Tensor& given : {x, x.contiguous(at::MemoryFormat::ChannelsLast)}) {
            const auto made = runner->run({given});
            QVERIFY2(made, made ? "" : made.error().line().c_str());
            const at::Tensor pooled = made->front().toTensor();
            QCOMPARE(pooled.sizes(), wanted.sizes());
            QVERIFY(at::allclose(pooled, wanted, 0, 0, true));
            QCOMPARE(pooled.is_contiguous(), given.is_contiguous());
        }
    }
};

QTEST_GUILESS_MAIN(TestFastByChannel)
#include "tst_fast_by_channel.moc"
