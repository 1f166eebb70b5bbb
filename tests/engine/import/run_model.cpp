// SPDX-License-Identifier: Apache-2.0
// For tests with PyTorch as the oracle: `run_model MODEL DATA|sample FOLDER [sequence]` opens a
// model, runs it as it is on every call of the data and writes the outputs
// (FOLDER/float.expected.pt: a list of (inputs, outputs), flat), and the float graph again as
// again.pt2 and again.ts.pt. A form that refuses the graph is reported on stdout, in one line. Of a
// sequence the calls share the model's state.
// Without arguments it takes such words from stdin, between tabs, a line for each model, and `units
// MODEL`, which prints the quantized units of the default plan as JSON; it ends each answer with
// "done" or "failed: ...". Many files then take one start of LibTorch.
#include "engine/base/torch_guard.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/configure/qconfigs/observer_json.h"
#include "engine/execute/interpreter.h"
#include "engine/export/exporter.h"
#include "engine/import/importer.h"
#include "engine/plan/planner.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

using namespace qs;

namespace {

Result<void> writeOutputs(const GraphPtr& graph, const Dataset& data, const std::string& path)
{
    QS_TRY(const Interpreter interpreter, Interpreter::create(graph));
    c10::impl::GenericList calls(c10::AnyType::get());
    ModelState state;
    for (std::int64_t i = 0; i < data.batchCount(); ++i) {
        QS_TRY(const Batch batch, data.batch(i));
        QS_TRY(std::vector<at::IValue> outputs,
               interpreter.run(batch.inputs, {}, {}, data.isSequence() ? &state : nullptr));
        calls.push_back(
            c10::ivalue::Tuple::create({c10::ivalue::Tuple::create(batch.inputs),
                                        c10::ivalue::Tuple::create(std::move(outputs))}));
    }
    const std::vector<char> bytes = torch::jit::pickle_save(calls);
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), std::streamsize(bytes.size()));
    return {};
}

Result<void> run(const std::string& model, const std::string& source, const std::string& folder,
                 bool isSequence)
{
    QS_TRY(const GraphPtr graph, importModel(model));
    QS_TRY(const auto data, openDataset(source, *graph, {1, 0, isSequence}));
    QS_CHECK(writeOutputs(graph, *data, folder + "/float.expected.pt"));
    if (const auto done = writePt2(*graph, folder + "/again.pt2"); !done)
        std::printf("pt2: %s\n", done.error().line().c_str());
    if (const auto done = writeTorchScript(*graph, folder + "/again.ts.pt"); !done)
        std::printf("torchscript: %s\n", done.error().line().c_str());
    return {};
}

Result<void> printUnits(const std::string& model)
{
    QS_TRY(const GraphPtr graph, importModel(model));
    const Recipe recipe = defaultRecipe();
    QS_TRY(const Backend backend, findBackend(recipe.target()));
    QS_TRY(const Plan plan, makePlan(*graph, recipe, backend));
    Json units = Json::array();
    for (const NodePlan& one : plan.nodes) {
        const Node& node = graph->get(one.node);
        if (one.quantized && node.kind == NodeKind::Op)
            units.push_back({node.scope.path, node.scope.callIndex, one.pattern, one.qconfigName});
    }
    std::printf("%s\n", units.dump().c_str());
    return {};
}

Result<void> answer(const std::vector<std::string>& words)
{
    return guardTorch([&]() -> Result<void> {
        if (words.size() == 2 && words[0] == "units")
            return printUnits(words[1]);
        const bool isSequence = words.size() == 4 && words[3] == "sequence";
        if (words.size() != 3 && !isSequence)
            return fail(ErrorCode::Usage, "usage: MODEL DATA|sample FOLDER [sequence]");
        return run(words[0], words[1], words[2], isSequence);
    });
}

void serve()
{
    for (std::string line; std::getline(std::cin, line);) {
        std::vector<std::string> words;
        std::istringstream parts(line);
        for (std::string word; std::getline(parts, word, '\t');)
            words.push_back(word);
        const auto done = answer(words);
        std::printf("%s\n", done ? "done" : ("failed: " + done.error().line()).c_str());
        std::fflush(stdout);
    }
}

} // namespace

int main(int argc, char** argv)
{
    const InferenceScope scope;
    if (argc == 1) {
        serve();
        return 0;
    }
    const auto done = answer({argv + 1, argv + argc});
    if (done)
        return 0;
    std::fprintf(stderr, "%s\n", done.error().line().c_str());
    return 1;
}
