// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/calibrator.h"
#include "engine/compare/comparator.h"
#include "engine/convert/convert.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/text/graph_printer.h"
#include "engine/import/archive/sample_inputs.h"
#include "engine/import/importer.h"
#include "engine/plan/planner.h"
#include "engine/prepare/prepare.h"

#include <QtTest/QtTest>

#include <map>

using namespace qs;

namespace {

/// Every stored tensor of a graph, copied.
std::map<std::string, at::Tensor> weightsOf(const Graph& graph)
{
    std::map<std::string, at::Tensor> weights;
    for (const NodePtr& node : graph.nodes())
        if (node->tensor)
            if (const auto tensor = tensorsOf(graph)->getTensor(node->tensor))
                weights[node->name] = tensor->clone();
    return weights;
}

at::Tensor run(const GraphPtr& graph, const std::vector<at::IValue>& inputs)
{
    auto out = Interpreter::create(graph)->run(inputs);
    if (!out)
        qFatal("%s", out.error().line().c_str());
    return out->at(0).toTensor();
}

} // namespace

/// One module of a model is quantized; neither side can reach into the other afterwards.
class TestSourceUntouched : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void neitherModelChangesTheOther()
    {
        const auto model = importModel(QS_BINARY_DIR "/tests/models/resnet18.pt2");
        QVERIFY2(model, model ? "" : model.error().line().c_str());
        const std::vector<at::IValue> inputs = *readSampleInputs(**model);
        const std::string text = printGraph(**model);
        const auto weights = weightsOf(**model);
        const at::Tensor before = run(*model, inputs);
        const std::size_t stored = tensorsOf(**model)->size();

        Recipe recipe = defaultRecipe();
        recipe.prepare.onlyModules = {"layer3"};
        auto plan = makePlan(**model, recipe, *findBackend("x86"));
        QVERIFY2(plan, plan ? "" : plan.error().line().c_str());
        for (const NodePlan& node : plan->nodes)
            QVERIFY(!node.quantized || (*model)->get(node.node).scope.path.starts_with("layer3"));
        const auto prepared = prepareModel(*model, std::make_shared<const Plan>(std::move(*plan)));
        QVERIFY2(prepared, prepared ? "" : prepared.error().line().c_str());
        const auto data = openDataset("sample", **model, {8, 1});
        QVERIFY2(data, data ? "" : data.error().line().c_str());
        const auto seen = calibrate(**prepared, **data, "cpu");
        QVERIFY2(seen, seen ? "" : seen.error().line().c_str());
        const auto batch = (*data)->batch(0);
        QVERIFY(batch);
        const auto converted = convertModel(*prepared, chooseAllQParams(**seen), recipe, {&*batch});
        QVERIFY2(converted, converted ? "" : converted.error().line().c_str());
        QVERIFY(compareModels(**converted, **data, "cpu"));

        // The source: the same text, the same weights to the bit and no more, the same results.
        QCOMPARE(tensorsOf(**model)->size(), stored);
        QCOMPARE(printGraph(**model), text);
        const auto after = weightsOf(**model);
        QCOMPARE(after.size(), weights.size());
        for (const auto& [name, tensor] : weights)
            QVERIFY2(at::equal(after.at(name), tensor), name.c_str());
        QVERIFY(at::equal(run(*model, inputs), before));

        // The result: an edit of the source, another weight in it included, does not reach it.
        const at::Tensor quantized = run((*converted)->reference, inputs);
        GraphEdit edit(**model);
        const Node* weight = (*model)->tryFind("p_layer3_0_conv1_weight");
        QVERIFY(weight && weight->tensor);
        edit.change(weight->id).tensor
            = tensorsOf(edit)->add(at::zeros_like(weights.at(weight->name)));
        const auto edited = std::make_shared<const Graph>(edit.build());
        QVERIFY(!at::equal(run(edited, inputs), before));
        QVERIFY(at::equal(run((*converted)->reference, inputs), quantized));
        QVERIFY(at::equal(run(*model, inputs), before));
    }
};

QTEST_GUILESS_MAIN(TestSourceUntouched)
#include "tst_source_untouched.moc"
