// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/tensor_store.h"
#include "engine/train/training_graph.h"
#include "tests/support/graph_text_case.h"

#include <ATen/ATen.h>

using namespace qs;
using namespace qs::test;

namespace {

/// The pass of that name as `prepareForTraining` runs it: convolution and batch norm are one
/// operator, whose weight and input have observers.
Pass training(const std::string& name, bool isFused)
{
    return Pass(name, [=](const GraphPtr& graph) -> Result<GraphPtr> {
        auto plan = std::make_shared<Plan>();
        plan->nodes.resize(graph->nodes().size());
        MatchGroup group;
        group.fused = isFused;
        group.quantized = true;
        group.members = {graph->tryFind("conv")->id, graph->tryFind("bn")->id};
        group.root = group.members.front();
        plan->groups.push_back(group);
        PlannedObserver input, weight;
        input.id = ObserverId(1);
        input.edges.push_back({{graph->tryFind("x")->id, 0}, {}});
        weight.id = ObserverId(2);
        weight.isWeight = true;
        weight.weightOwner = group.root;
        plan->observers = {input, weight};
        const PassWatch watch({}, name);
        QS_TRY(const TrainingGraphPtr made,
               prepareForTraining(graph, plan, NormFactors::OfTraining));
        return watch.graph();
    });
}

std::shared_ptr<TensorStore> tensors()
{
    auto store = std::make_shared<TensorStore>();
    store->add(at::ones({2, 1, 1, 1}));
    for (int i = 0; i < 5; ++i)
        store->add(at::ones({2}));
    return store;
}

const QString kParameters = R"(
    w: float32[2, 1, 1, 1] = parameter "conv.weight" tensor=1
    b: float32[2] = parameter "conv.bias" tensor=6
    gamma: float32[2] = parameter "bn.weight" tensor=2
    beta: float32[2] = parameter "bn.bias" tensor=3
    mean: float32[2] = parameter "bn.running_mean" tensor=4 buffer=1
    var: float32[2] = parameter "bn.running_var" tensor=5 buffer=1
    x: float32[1, 1, 4, 4] = input
)";
const QString kNorm = "weight=%gamma, bias=%beta, running_mean=%mean, running_var=%var, "
                      "training=False, momentum=0.1, eps=0.001)\nreturn %bn";

std::vector<PassCase> shownTrainings()
{
    const QString model = kParameters + R"(
        conv: float32[1, 2, 4, 4] = aten.conv2d.default(input=%x, weight=%w, bias=%b)
        bn: float32[1, 2, 4, 4] = aten.batch_norm.default(input=%conv, )"
        + kNorm;
    return {
        {training("scale-weights-by-batch-norms", true),
         "the weight is scaled, the result divided, the bias added after that", model,
         kParameters + R"(
            conv_variance: float32[2] = aten.add.Scalar(self=%var, other=0.001) origin=8
            conv_deviation: float32[2] = aten.sqrt.default(self=%conv_variance) origin=8
            conv_factor: float32[2] = aten.div.Tensor(self=%gamma, other=%conv_deviation) origin=8
            conv_by_channel: float32[2, 1, 1, 1] = aten.reshape.default(self=%conv_factor, shape=[-1, 1, 1, 1]) origin=8
            conv_scaled: float32[2, 1, 1, 1] = aten.mul.Tensor(self=%w, other=%conv_by_channel) origin=8
            conv_by_channel_1: float32[1, 2, 1, 1] = aten.reshape.default(self=%conv_factor, shape=[1, -1, 1, 1]) origin=8
            conv_by_channel_2: float32[1, 2, 1, 1] = aten.reshape.default(self=%b, shape=[1, -1, 1, 1]) origin=8
            conv: float32[1, 2, 4, 4] = aten.conv2d.default(input=%x, weight=%conv_scaled, bias=None)
            conv_restored: float32[1, 2, 4, 4] = aten.div.Tensor(self=%conv, other=%conv_by_channel_1) origin=8
            conv_restored_1: float32[1, 2, 4, 4] = aten.add.Tensor(self=%conv_restored, other=%conv_by_channel_2) origin=8
            bn: float32[1, 2, 4, 4] = aten.batch_norm.default(input=%conv_restored_1, )"
             + kNorm,
         tensors()},
        {training("scale-weights-by-batch-norms", false), "a batch norm that is not fused", model,
         "", tensors()},
        {training("insert-training-observers", false), "observers of values and weights", model,
         kParameters + R"(
            activation_post_process_0: float32[1, 1, 4, 4] = quantscope.observe.default(input=%x) origin=7 observer=1
            weight_fake_quant_0: float32[2, 1, 1, 1] = quantscope.observe.default(input=%w) origin=8 observer=2
            conv: float32[1, 2, 4, 4] = aten.conv2d.default(input=%activation_post_process_0, weight=%weight_fake_quant_0, bias=%b)
            bn: float32[1, 2, 4, 4] = aten.batch_norm.default(input=%conv, )"
             + kNorm,
         tensors()},
    };
}

} // namespace

class TestTrainingGraph : public QObject
{
    Q_OBJECT
    const std::vector<PassCase> m_cases = shownTrainings();

private Q_SLOTS:
    void rewrites_data() { addRows(m_cases); }
    void rewrites() { compareRow(m_cases); }
};

QTEST_GUILESS_MAIN(TestTrainingGraph)
#include "tst_training_graph.moc"
