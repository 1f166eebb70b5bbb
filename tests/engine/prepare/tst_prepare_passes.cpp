// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/tensor_store.h"
#include "engine/prepare/prepare.h"
#include "tests/support/graph_text_case.h"

#include <ATen/ATen.h>

using namespace qs;
using namespace qs::test;

namespace {

using Names = std::vector<std::string>;

/// The pass of that name as `prepareModel` runs it under a plan.
Pass preparing(const std::string& name, const std::function<void(const Graph&, Plan&)>& decide)
{
    return Pass(name, [=](const GraphPtr& graph) -> Result<GraphPtr> {
        auto plan = std::make_shared<Plan>();
        plan->nodes.resize(graph->nodes().size());
        decide(*graph, *plan);
        const PassWatch watch({}, name);
        QS_TRY(const PreparedPtr prepared, prepareModel(graph, plan));
        return watch.graph();
    });
}

/// These nodes are one operator.
Pass fusing(const Names& members)
{
    return preparing("fuse-batch-norms", [members](const Graph& graph, Plan& plan) {
        MatchGroup group;
        group.fused = true;
        for (const std::string& name : members)
            group.members.push_back(graph.tryFind(name)->id);
        group.root = group.members.front();
        plan.groups.push_back(group);
    });
}

/// The weight of this layer is observed as its own.
Pass folding(const std::string& layer)
{
    return preparing("fuse-batch-norms", [layer](const Graph& graph, Plan& plan) {
        PlannedObserver observer;
        observer.id = ObserverId(1);
        observer.isWeight = true;
        observer.weightOwner = graph.tryFind(layer)->id;
        observer.edges.push_back({{graph.tryFind("w")->id, 0}, {}});
        plan.observers.push_back(observer);
    });
}

/// An observer for each entry: the values that it sees, and the one reader that it sees them for;
/// "" = all.
Pass observing(const std::vector<std::pair<Names, std::string>>& observers)
{
    return preparing("insert-observers", [observers](const Graph& graph, Plan& plan) {
        for (const auto& [values, reader] : observers) {
            PlannedObserver observer;
            observer.id = ObserverId(std::uint32_t(plan.observers.size() + 1));
            for (const std::string& value : values) {
                observer.edges.push_back({{graph.tryFind(value)->id, 0}, {}});
                if (!reader.empty())
                    observer.edges.back().readers = {{graph.tryFind(reader)->id, 0}};
            }
            plan.observers.push_back(observer);
        }
    });
}

/// A weight of two channels, then what a batch norm of two channels knows.
std::shared_ptr<TensorStore> tensors()
{
    auto store = std::make_shared<TensorStore>();
    store->add(at::ones({2, 1, 1, 1}));
    for (int i = 0; i < 4; ++i)
        store->add(at::ones({2}));
    return store;
}

std::vector<PassCase> shown()
{
    const QString parameters = R"(
        conv_weight: float32[2, 1, 1, 1] = parameter "conv.weight" tensor=1 scope="conv"
        bn_weight: float32[2] = parameter "bn.weight" tensor=2
        bn_bias: float32[2] = parameter "bn.bias" tensor=3
        bn_mean: float32[2] = parameter "bn.running_mean" tensor=4 buffer=1
        bn_var: float32[2] = parameter "bn.running_var" tensor=5 buffer=1
    )";
    const QString norm = "aten.batch_norm.default(input=%conv, weight=%bn_weight, bias=%bn_bias, "
                         "running_mean=%bn_mean, running_var=%bn_var, training=False)\n";
    const QString two = parameters + R"(
        x: float32[1, 1, 4, 4] = input
        conv: float32[1, 2, 4, 4] = aten.conv2d.default(input=%x, weight=%conv_weight)
        bn: float32[1, 2, 4, 4] = )"
        + norm;
    return {
        {fusing({"conv", "bn", "y"}), "a batch norm goes into the convolution before it",
         two + "y: float32[1, 2, 4, 4] = aten.relu.default(self=%bn)\nreturn %y",
         R"(
            conv_weight#90: float32[2, 1, 1, 1] = parameter "conv.weight" scope="conv" origin=1 tensor=6
            conv_bias: float32[2] = parameter "conv.bias" scope="conv" origin=1 tensor=7
            x: float32[1, 1, 4, 4] = input
            conv: float32[1, 2, 4, 4] = aten.conv2d.default(input=%x, weight=%conv_weight, bias=%conv_bias)
            y: float32[1, 2, 4, 4] = aten.relu.default(self=%conv)
            return %y
        )",
         tensors()},
        {fusing({"conv", "bn"}), "somebody else reads the convolution", two + "return %bn, %conv",
         "", tensors()},
        {fusing({"conv", "bn"}), "statistics of the batch",
         QString(two).replace("training=False", "training=True") + "return %bn", "", tensors()},
        {fusing({"conv"}), "the plan does not fuse them", two + "return %bn", "", tensors()},
        {folding("conv"), "a weight that is computed of stored tensors becomes one", R"(
            g: float32[2, 1, 1, 1] = parameter "conv.g" tensor=1
            v: float32[2, 1, 1, 1] = parameter "conv.v" tensor=1
            x: float32[1, 1, 4, 4] = input
            w: float32[2, 1, 1, 1] = aten.mul.Tensor(self=%g, other=%v) scope="conv.norm"
            conv: float32[1, 2, 4, 4] = aten.conv2d.default(input=%x, weight=%w) scope="conv"
            return %conv
        )",
         R"(
            x: float32[1, 1, 4, 4] = input
            w_folded: float32[2, 1, 1, 1] = parameter "conv.weight" scope="conv" tensor=6
            conv: float32[1, 2, 4, 4] = aten.conv2d.default(input=%x, weight=%w_folded) scope="conv"
            return %conv
        )",
         tensors()},
        {observing({{{"x"}, ""}, {{"y", "z"}, ""}}), "what all readers see, two values alike", R"(
            x: float32[2] = input
            y: float32[2] = aten.relu.default(self=%x) scope="act"
            z: float32[2] = aten.neg.default(self=%y)
            return %z, %x
        )",
         R"(
            x: float32[2] = input
            activation_post_process_0: float32[2] = quantscope.observe.default(input=%x) origin=1 observer=1
            y: float32[2] = aten.relu.default(self=%activation_post_process_0) scope="act"
            activation_post_process_1: float32[2] = quantscope.observe.default(input=%y) scope="act" origin=2 observer=2
            z: float32[2] = aten.neg.default(self=%activation_post_process_1)
            activation_post_process_2: float32[2] = quantscope.observe.default(input=%z) origin=3 observer=2
            return %activation_post_process_2, %activation_post_process_0
        )"},
        {observing({{{"x"}, "z"}, {{"x"}, ""}}), "the observer of one reader follows that of all",
         R"(
            x: float32[2] = input
            y: float32[2] = aten.relu.default(self=%x)
            z: float32[2] = aten.neg.default(self=%x)
            return %y, %z
        )",
         R"(
            x: float32[2] = input
            activation_post_process_0: float32[2] = quantscope.observe.default(input=%x) origin=1 observer=2
            activation_post_process_1: float32[2] = quantscope.observe.default(input=%activation_post_process_0) origin=1 observer=1
            y: float32[2] = aten.relu.default(self=%activation_post_process_0)
            z: float32[2] = aten.neg.default(self=%activation_post_process_1)
            return %y, %z
        )"},
        {observing({}), "nothing to see", R"(
            x: float32[2] = input
            y: float32[2] = aten.relu.default(self=%x)
            return %y
        )",
         ""},
    };
}

} // namespace

class TestPreparePasses : public QObject
{
    Q_OBJECT
    const std::vector<PassCase> m_cases = shown();

private Q_SLOTS:
    void rewrites_data() { addRows(m_cases); }
    void rewrites() { compareRow(m_cases); }
};

QTEST_GUILESS_MAIN(TestPreparePasses)
#include "tst_prepare_passes.moc"
