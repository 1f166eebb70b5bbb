// SPDX-License-Identifier: Apache-2.0
// convert_dump MODEL RECIPE CALIBRATION TEST OUT [QPARAMS]: converts a model and writes the outputs
// of both converted forms for the test data as a torch file. QPARAMS replaces the chosen
// parameters, so that conversion can be compared independently of calibration; its lines are
// "activation NODE SCALE ZERO_POINT" and "weight NODE COUNT SCALE...". With one argument @FILE each
// line of the file holds the arguments of one conversion; a failed one leaves its message in
// OUT.error.
#include "engine/calibrate/calibrator.h"
#include "engine/convert/convert.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/execute/interpreter.h"
#include "engine/import/importer.h"
#include "engine/plan/planner.h"
#include "engine/prepare/prepare.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace qs;

namespace {

/// Observers by the node whose value or weight they observe.
struct ByNode
{
    std::map<std::string, ObserverId> activation, weight;
};

ByNode observersByNode(const Graph& graph, const Plan& plan)
{
    ByNode names;
    for (const PlannedObserver& observer : plan.observers)
        if (observer.isWeight)
            names.weight[graph.get(observer.weightOwner).name] = observer.id;
        else
            for (const ObservedEdge& edge : observer.edges)
                names.activation[graph.get(edge.value.node).name] = observer.id;
    return names;
}

Result<void> replaceParameters(const std::string& path, const ByNode& names, QParamsTable& table)
{
    std::ifstream file(path);
    std::string line, kind, node, number;
    while (std::getline(file, line)) {
        std::istringstream words(line);
        words >> kind >> node;
        const auto& known = kind == "weight" ? names.weight : names.activation;
        const auto it = known.find(node);
        if (it == known.end() || !table.contains(it->second))
            return fail(ErrorCode::BadInput, "no observer for " + kind + " of " + node);
        QParams& qparams = table.at(it->second);
        std::size_t count = 1;
        if (kind == "weight")
            words >> count;
        if (count != qparams.scale.size())
            return fail(ErrorCode::BadInput, "another number of scales at " + node);
        for (std::size_t i = 0; i < count; ++i) {
            words >> number;
            qparams.scale[i] = std::strtof(number.c_str(), nullptr);
        }
        if (kind != "weight")
            words >> qparams.zeroPoint[0];
    }
    return {};
}

/// Returns every output of the model, with all batches in one tensor.
Result<at::IValue> runAll(const GraphPtr& graph, const Dataset& data)
{
    QS_TRY(const Interpreter interpreter, Interpreter::create(graph));
    std::vector<std::vector<at::Tensor>> outputs(graph->output().args.size());
    for (std::int64_t i = 0; i < data.batchCount(); ++i) {
        QS_TRY(Batch batch, data.batch(i));
        QS_TRY(const auto made, interpreter.run(std::move(batch.inputs)));
        for (std::size_t o = 0; o < outputs.size(); ++o)
            outputs[o].push_back(made.at(o).toTensor());
    }
    c10::List<at::Tensor> whole;
    for (const auto& batches : outputs)
        whole.push_back(at::cat(batches, 0));
    return at::IValue(whole);
}

std::string targetsOf(const Graph& graph)
{
    std::string text;
    for (const NodePtr& node : graph.nodes())
        if (node->kind == NodeKind::Op)
            text += node->target + "\n";
    return text;
}

/// Returns the number of observer instances on activations and on weights.
std::pair<std::int64_t, std::int64_t> observerCounts(const Plan& plan)
{
    std::int64_t weights = 0;
    for (const PlannedObserver& observer : plan.observers)
        weights += observer.isWeight;
    return {std::int64_t(plan.observers.size()) - weights, weights};
}

std::string residueText(const ConvertedModel& model)
{
    std::string text;
    for (const Residue& left : loweringResidue(model))
        text += left.name + ": " + left.reason + "\n";
    return text;
}

Result<void> run(const std::vector<std::string>& args)
{
    QS_TRY(const GraphPtr graph, importModel(args[0]));
    QS_TRY(const Recipe recipe, readRecipe(args[1]));
    QS_TRY(const Backend backend, findBackend(recipe.target()));
    QS_TRY(Plan made, makePlan(*graph, recipe, backend));
    const auto plan = std::make_shared<const Plan>(std::move(made));
    QS_TRY(const PreparedPtr prepared, prepareModel(graph, plan));
    const DatasetOptions options {recipe.calibration.batchSize, recipe.calibration.batches};
    QS_TRY(const auto data, openDataset(args[2], *graph, options));
    QS_TRY(const auto test, openDataset(args[3], *graph, {recipe.calibration.batchSize, 0}));
    QS_TRY(const ObservationsPtr seen, calibrate(*prepared, *data, "cpu"));
    QParamsTable table = chooseAllQParams(*seen);
    if (args.size() > 5)
        QS_CHECK(replaceParameters(args[5], observersByNode(*graph, *plan), table));
    QS_TRY(const Batch batch, data->batch(0));
    QS_TRY(const ConvertedPtr model, convertModel(prepared, table, recipe, {&batch}));

    c10::impl::GenericDict out(c10::StringType::get(), c10::AnyType::get());
    QS_TRY(const at::IValue plain, runAll(graph, *test));
    QS_TRY(const at::IValue reference, runAll(model->reference, *test));
    QS_TRY(const at::IValue lowered, runAll(model->lowered, *test));
    out.insert("float", plain);
    out.insert("reference", reference);
    out.insert("lowered", lowered);
    out.insert("reference_ops", targetsOf(*model->reference));
    out.insert("lowered_ops", targetsOf(*model->lowered));
    out.insert("residue", residueText(*model));
    const auto [activations, weights] = observerCounts(*plan);
    out.insert("activation_observers", activations);
    out.insert("weight_observers", weights);
    const auto bytes = torch::jit::pickle_save(out);
    std::ofstream(args[4], std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
    return {};
}

int runLines(const std::string& path)
{
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::vector<std::string> args;
        for (std::string word; words >> word;)
            args.push_back(word);
        if (const auto done = run(args); !done)
            std::ofstream(args.at(4) + ".error") << done.error().line();
    }
    return 0;
}

} // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> args(argv + 1, argv + argc);
    if (args.size() == 1 && args[0].starts_with("@"))
        return runLines(args[0].substr(1));
    if (args.size() < 5) {
        std::cerr << "usage: convert_dump MODEL RECIPE CALIBRATION TEST OUT [QPARAMS]\n";
        return 2;
    }
    if (const auto done = run(args); !done) {
        std::cerr << done.error().line() << "\n";
        return 1;
    }
    return 0;
}
