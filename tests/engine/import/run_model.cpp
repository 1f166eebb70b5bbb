// SPDX-License-Identifier: Apache-2.0
// For tests with PyTorch as the oracle: `run_model MODEL DATA|sample FOLDER [sequence]` opens a
// model, runs it as it is on every call of the data and writes the outputs
// (FOLDER/float.expected.pt: a list of (inputs, outputs), flat), and the float graph again as
// again.pt2 and again.ts.pt. A form that refuses the graph is told on stdout, in one line. Of a
// sequence the calls share the model's state.
#include "engine/base/torch_guard.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/execute/interpreter.h"
#include "engine/export/exporter.h"
#include "engine/import/importer.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <cstdio>
#include <fstream>

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

} // namespace

int main(int argc, char** argv)
{
    const bool isSequence = argc == 5 && std::string(argv[4]) == "sequence";
    if (argc != 4 && !isSequence) {
        std::fprintf(stderr, "usage: run_model MODEL DATA|sample FOLDER [sequence]\n");
        return 2;
    }
    const InferenceScope scope;
    const auto done = guardTorch([&] { return run(argv[1], argv[2], argv[3], isSequence); });
    if (done)
        return 0;
    std::fprintf(stderr, "%s\n", done.error().line().c_str());
    return 1;
}
