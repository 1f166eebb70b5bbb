// SPDX-License-Identifier: Apache-2.0
#include "engine/export/exporter.h"

#include "engine/base/files/atomic_file.h"
#include "engine/convert/form_parts.h"
#include "engine/convert/saturating_form.h"
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

/// What a form's file is written from.
struct Written
{
    const ConvertedModel& converted;
    GraphPtr graph;
};

struct Form
{
    const char* name;
    const char* file;
    bool isLowered; ///< else the reference form
    bool holdsSaturatingForm;
    /// Writes the graph to `path`; the caller moves the file to `finalPath` later.
    Result<void> (*write)(const Written& written, const std::string& path,
                          const std::string& finalPath, const ExportOptions& options,
                          const JobContext& job);
    bool isReadBack; ///< this program opens the file again
    Result<void> (*check)(const Graph& model) = nullptr; ///< null: can hold every float model
};

ExportRecord recordOf(const ConvertedModel& converted, const ExportOptions& options)
{
    return {QUANTSCOPE_VERSION, ownTorchVersion(), converted.engine, options.recipeSha256,
            converted.prepared ? converted.prepared->model->info().sha256 : std::string()};
}

Result<void> writeLowered(const Written& written, const std::string& path, const std::string&,
                          const ExportOptions& options, const JobContext& job)
{
    return writeTorchScript(*written.graph, path, job, recordOf(written.converted, options),
                            loweredCalls(written.converted));
}

Result<void> writeReference(const Written& written, const std::string& path, const std::string&,
                            const ExportOptions& options, const JobContext& job)
{
    return writePt2(*written.graph, path, job, recordOf(written.converted, options));
}

Result<void> writeFolded(const Written& written, const std::string& path, const std::string&,
                         const ExportOptions& options, const JobContext& job)
{
    const std::array passes {Pass("fold-weights", foldWeights),
                             Pass("separate-dequantizes", separateDequantizes)};
    QS_TRY(const GraphPtr folded, runPasses(written.graph, passes, job));
    return writePt2(*folded, path, job, recordOf(written.converted, options));
}

Result<void> writeQdq(const Written& written, const std::string& path, const std::string& finalPath,
                      const ExportOptions& options, const JobContext& job)
{
    OnnxOptions onnx;
    onnx.opset = options.onnxOpset;
    onnx.target = options.onnxTarget;
    if (written.converted.prepared)
        onnx.outputs
            = formOutputNames(*written.converted.prepared->model, written.converted.referenceEdits);
    for (const auto& [key, value] : onnxPairs(recordOf(written.converted, options)))
        onnx.metadata.emplace_back(key, value);
    return writeOnnx(*written.graph, path, finalPath, onnx, job);
}

constexpr std::array<Form, 4> kForms {{
    {"torchscript", "model.int8.ts.pt", true, false, writeLowered, true},
    {"pt2-reference", "model.reference.pt2", false, false, writeReference, true, checkPt2Objects},
    {"pt2", "model.int8.pt2", false, true, writeFolded, true, checkPt2Objects},
    {"onnx", "model.int8.onnx", false, true, writeQdq, false, checkOnnxOperators},
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

Result<const Form*> knownForm(const std::string& name)
{
    if (const Form* form = findForm(name))
        return form;
    return fail(makeError(ErrorCode::Usage, "unknown export form '" + name + "'")
                    .withHint("known forms: " + knownForms()));
}

} // namespace

std::vector<std::string> exportForms()
{
    std::vector<std::string> names;
    for (const Form& form : kForms)
        names.emplace_back(form.name);
    return names;
}

std::vector<std::string> defaultExportForms()
{
    return {"pt2", "onnx", "torchscript"};
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

bool holdsSaturatingForm(const std::string& form)
{
    const Form* known = findForm(form);
    return known && known->holdsSaturatingForm;
}

Result<GraphPtr> exportedGraph(const ConvertedModel& converted, const std::string& form,
                               bool saturates, const JobContext& job)
{
    QS_TRY(const Form* known, knownForm(form));
    const GraphPtr& graph = known->isLowered ? converted.lowered : converted.reference;
    if (!graph)
        return fail(ErrorCode::Internal,
                    std::string("the converted model has no ")
                        + (known->isLowered ? "lowered form" : "reference form"));
    if (!saturates || !known->holdsSaturatingForm)
        return graph;
    QS_TRY(SaturatingForm own, saturatingForm(converted, job));
    return own.graph;
}

EditedModelPtr exportedEdits(const ConvertedModel& converted, const std::string& form)
{
    const Form* known = findForm(form);
    return !known ? nullptr : known->isLowered ? converted.loweredEdits : converted.referenceEdits;
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
    QS_TRY(const Form* wanted, knownForm(form));
    QS_CHECK(job.check());
    QS_CHECK(ensureWritableFolder(folder));
    QS_TRY(const GraphPtr graph, exportedGraph(converted, form, options.saturates, job));
    const std::string path = (std::filesystem::path(folder) / wanted->file).string();
    job.report("export", wanted->file, 0);
    QS_TRY(AtomicFile file, AtomicFile::create(path));
    auto written = wanted->write({converted, graph}, file.temporaryPath(), path, options, job);
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
