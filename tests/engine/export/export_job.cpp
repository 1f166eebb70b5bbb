// SPDX-License-Identifier: Apache-2.0
// The whole job on one model for the export test: `export_job MODEL DATA|sample FOLDER` writes
// every export form, and for each form the outputs that our interpreter gives for the data
// (FOLDER/lowered.expected.pt, reference.expected.pt: a list of (args, outputs), flat).
#include "engine/base/torch_guard.h"
#include "engine/calibrate/calibrator.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/convert/convert.h"
#include "engine/convert/ranges/choose_qparams.h"
#include "engine/execute/interpreter.h"
#include "engine/export/exporter.h"
#include "engine/import/importer.h"
#include "engine/plan/planner.h"
#include "engine/prepare/prepare.h"

#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

using namespace qs;

namespace {

constexpr std::int64_t kComparedBatches = 2;

Result<void> writeOutputs(const GraphPtr& graph, const Dataset& data, const std::string& path)
{
    QS_TRY(const Interpreter interpreter, Interpreter::create(graph));
    c10::impl::GenericList calls(c10::AnyType::get());
    for (std::int64_t i = 0; i < std::min(kComparedBatches, data.batchCount()); ++i) {
        QS_TRY(const Batch batch, data.batch(i));
        QS_TRY(std::vector<at::IValue> outputs, interpreter.run(batch.inputs));
        calls.push_back(
            c10::ivalue::Tuple::create({c10::ivalue::Tuple::create(batch.inputs),
                                        c10::ivalue::Tuple::create(std::move(outputs))}));
    }
    const std::vector<char> bytes = torch::jit::pickle_save(calls);
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), std::streamsize(bytes.size()));
    return {};
}

Result<void> run(const std::string& modelPath, const std::string& source, const std::string& folder)
{
    const Recipe recipe = defaultRecipe();
    QS_TRY(const GraphPtr model, importModel(modelPath));
    QS_TRY(const Backend backend, findBackend(recipe.target()));
    QS_TRY(Plan plan, makePlan(*model, recipe, backend));
    QS_TRY(const PreparedPtr prepared,
           prepareModel(model, std::make_shared<const Plan>(std::move(plan))));
    QS_TRY(const auto data, openDataset(source, *model, {4, 2}));
    QS_TRY(const ObservationsPtr observations, calibrate(*prepared, *data, "cpu"));
    QS_TRY(const Batch batch, data->batch(0));
    QS_TRY(const ConvertedPtr converted,
           convertModel(prepared, chooseAllQParams(*observations), recipe, {&batch}));
    for (const std::string& form : exportForms()) {
        QS_TRY(const std::string written, exportModel(*converted, form, folder));
        std::printf("%s\n", written.c_str());
    }
    QS_CHECK(writeOutputs(converted->lowered, *data, folder + "/lowered.expected.pt"));
    QS_CHECK(writeOutputs(converted->reference, *data, folder + "/reference.expected.pt"));
    QS_TRY(const GraphPtr again, importModel(folder + "/model.reference.pt2"));
    return writeOutputs(again, *data, folder + "/reopened.expected.pt");
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 4) {
        std::fprintf(stderr, "usage: export_job MODEL DATA|sample FOLDER\n");
        return 2;
    }
    registerQuantizedDecomposed();
    const InferenceScope scope;
    const auto done = guardTorch([&] { return run(argv[1], argv[2], argv[3]); });
    if (done)
        return 0;
    std::fprintf(stderr, "%s\n", done.error().line().c_str());
    return 1;
}
