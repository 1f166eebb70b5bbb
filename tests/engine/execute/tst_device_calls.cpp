// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/node_runner.h"
#include "engine/execute/op_table.h"
#include "tests/support/graph_text_case.h"

#include <ATen/ATen.h>
#include <torch/library.h>

using namespace qs;

namespace {

at::Tensor halved(const at::Tensor& x)
{
    return x / 2;
}

TORCH_LIBRARY(halves, m)
{
    m.def("halved(Tensor x) -> Tensor");
}

TORCH_LIBRARY_IMPL(halves, CPU, m)
{
    m.impl("halved", halved);
}

Graph parsed(const QString& nodes)
{
    return qs::test::GraphText().read("x: float32[2, 3] = input\n" + nodes + "\nreturn %y");
}

NodeCall callOf(const QString& op, at::DeviceType device)
{
    const Graph graph = parsed("y: float32[...] = " + op);
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator())
            return prepareCall(*node, Layout::AsGiven, at::Device(device));
    return {};
}

} // namespace

class TestDeviceCalls : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// A GPU's attention lays its result out otherwise than the CPU's, with which a model was made.
    void aViewMayBeACopyOnAGpu()
    {
        const QString view = "aten.view.default(self=%x, size=[6])";
        QCOMPARE(callOf(view, at::kCPU).op->operator_name().name, std::string("aten::view"));
        QCOMPARE(callOf(view, at::kCUDA).op->operator_name().name, std::string("aten::reshape"));
    }

    void whatMakesTensorsIsToldWhere()
    {
        const auto slot = [](const QString& op) { return callOf(op, at::kCUDA).deviceSlot; };
        QCOMPARE(slot("aten.zeros.default(size=[3])"), 3);
        QCOMPARE(slot("aten.zeros_like.default(self=%x)"), -1); // it stays with its argument
        QCOMPARE(slot("aten.relu.default(self=%x)"), -1);
    }

    void theOperatorWithoutAKernelIsFound()
    {
        const auto lacking = [](const QString& nodes) {
            return operatorWithoutKernel(parsed(nodes), c10::DispatchKey::QuantizedCPU);
        };
        QCOMPARE(lacking("y: float32[...] = aten.relu.default(self=%x)"), std::string());
        QCOMPARE(lacking("a: float32[...] = aten.relu.default(self=%x)\n"
                         "b: float32[...] = halves.halved.default(x=%a)\n"
                         "y: float32[...] = unknown.call.default(x=%b)"),
                 std::string("halves.halved.default"));
    }
};

QTEST_GUILESS_MAIN(TestDeviceCalls)
#include "tst_device_calls.moc"
