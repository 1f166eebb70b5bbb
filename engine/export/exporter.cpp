// SPDX-License-Identifier: Apache-2.0
#include "engine/export/exporter.h"

#include "engine/base/files/atomic_file.h"
#include "engine/export/forms/code_forms.h"
#include "engine/export/forms/fold_weights.h"
#include "engine/export/forms/separate_dequantizes.h"
#include "engine/export/onnx/onnx_exporter.h"
#include "engine/export/onnx/onnx_metadata.h"
#include "engine/export/pt2/pt2_objects.h"
#include "engine/graph/pass.h"
#include "engine/import/archive/export_record.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace qs {

namespace {

struct Form
{
    const char* name;
    const char* file;
    /// Into `path`, which is going to stand at `finalPath`.
    Result<void> (*write)(const ConvertedModel&, const std::string& path,
                          const std::string& finalPath, const ExportOptions& options,
                          const JobContext& job);
    bool isReadBack; ///< this program opens the file again
    Result<void> (*check)(const Graph& model) = nullptr; ///< of a float model; null: holds all
};

Result<GraphPtr> needed(const GraphPtr& graph, const char* what)
{
    if (!graph)
        return fail(ErrorCode::Internal, std::string("the converted model has no ") + what);
    return graph;
}

ExportRecord recordOf(const ConvertedModel& converted, const ExportOptions& options)
{
    return {QUANTSCOPE_VERSION, ownTorchVersion(), converted.engine, options.recipeSha256,
            converted.prepared ? converted.prepared->model->info().sha256 : std::string()};
}

Result<void> writeLowered(const ConvertedModel& converted, const std::string& path,
                          const std::string&, const ExportOptions& options, const JobContext& job)
{
    QS_TRY(const GraphPtr graph, needed(converted.lowered, "lowered form"));
    return writeTorchScript(*graph, path, job, recordOf(converted, options),
                            loweredCalls(converted));
}

Result<void> writeReference(const ConvertedModel& converted, const std::string& path,
                            const std::string&, const ExportOptions& options, const JobContext& job)
{
    QS_TRY(const GraphPtr graph, needed(converted.reference, "reference form"));
    return writePt2(*graph, path, job, recordOf(converted, options));
}

Result<void> writeFolded(const ConvertedModel& converted, const std::string& path,
                         const std::string&, const ExportOptions& options, const JobContext& job)
{
    QS_TRY(const GraphPtr graph, needed(converted.reference, "reference form"));
    const std::array passes {Pass("fold-weights", foldWeights),
                             Pass("separate-dequantizes", separateDequantizes)};
    QS_TRY(const GraphPtr folded, runPasses(graph, passes, job));
    return writePt2(*folded, path, job, recordOf(converted, options));
}

Result<void> writeQdq(const ConvertedModel& converted, const std::string& path,
                      const std::string& finalPath, const ExportOptions& options,
                      const JobContext& job)
{
    QS_TRY(const GraphPtr graph, needed(converted.reference, "reference form"));
    OnnxOptions onnx;
    onnx.opset = options.onnxOpset;
    onnx.target = options.onnxTarget;
    for (const auto& [key, value] : onnxPairs(recordOf(converted, options)))
        onnx.metadata.emplace_back(key, value);
    QS_CHECK(job.check());
    return writeOnnx(*graph, path, finalPath, onnx);
}

constexpr std::array<Form, 4> kForms {{
    {"torchscript", "model.ts.pt", writeLowered, true},
    {"pt2-reference", "model.reference.pt2", writeReference, true, checkPt2Objects},
    {"pt2", "model.pt2", writeFolded, true, checkPt2Objects},
    {"onnx", "model.onnx", writeQdq, false, checkOnnxOperators},
}};

const Form* findForm(const std::string& name)
{
    for (const Form& form : kForms)
        if (name == form.name)
            return &form;
    return nullptr;
}

std::string knownForms()
{
    std::string text;
    for (const Form& form : kForms)
        text += (text.empty() ? "" : ", ") + std::string(form.name);
    return text;
}

} // namespace

std::vector<std::string> exportForms()
{
    std::vector<std::string> names;
    for (const Form& form : kForms)
        names.emplace_back(form.name);
    return names;
}

std::string exportFile(const std::string& form)
{
    const Form* known = findForm(form);
    return known ? known->file : "";
}

bool isReadBack(const std::string& form)
{
    const Form* known = findForm(form);
    return known && known->isReadBack;
}

Result<void> checkForms(const Graph& model, const std::vector<std::string>& forms)
{
    for (const std::string& name : forms) {
        const Form* form = findForm(name);
        const auto good = form && form->check ? form->check(model) : Result<void>();
        if (!good)
            return fail(Error(good.error()).inFile(model.info().path));
    }
    return {};
}

Result<std::string> exportModel(const ConvertedModel& converted, const std::string& form,
                                const std::string& folder, const JobContext& job,
                                const ExportOptions& options)
{
    const Form* wanted = findForm(form);
    if (!wanted)
        return fail(makeError(ErrorCode::Usage, "unknown export form '" + form + "'")
                        .withHint("known forms: " + knownForms()));
    QS_CHECK(job.check());
    QS_CHECK(ensureWritableFolder(folder));
    const std::string path = (std::filesystem::path(folder) / wanted->file).string();
    job.report("export", wanted->file, 0);
    QS_TRY(AtomicFile file, AtomicFile::create(path));
    auto written = wanted->write(converted, file.temporaryPath(), path, options, job);
    if (!written) {
        Error error = std::move(written).error();
        error.file = path;
        return fail(std::move(error));
    }
    QS_CHECK(job.check());
    QS_CHECK(file.commit());
    job.report("export", wanted->file, 1);
    return path;
}

} // namespace qs
