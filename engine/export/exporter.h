// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/convert/converted_model.h"
#include "engine/export/onnx/onnx_target.h"
#include "engine/export/onnx_opset.h"
#include "engine/graph/code/code_calls.h"
#include "engine/graph/export_record.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Options for writing forms; each form reads its own.
struct ExportOptions
{
    std::int64_t onnxOpset = kOnnxOpset; ///< 13 to 23
    OnnxTarget onnxTarget = OnnxTarget::Generic;
    std::string recipeSha256; ///< for files with a record of origin; may be empty
    bool saturates = false; ///< integers keep to their observers' ranges where the form holds them
};

/// Writes one form of the converted model into `folder` by atomic rename; returns the path. `form`
/// is "torchscript" (lowered, model.int8.ts.pt), "pt2-reference" (model.reference.pt2), "pt2"
/// (model.int8.pt2), "onnx" (model.int8.onnx). Errors: an unknown form (Usage), a folder that
/// cannot be written, a graph that has no such form (names the node).
Result<std::string> exportModel(const ConvertedModel& converted, const std::string& form,
                                const std::string& folder, const JobContext& job = {},
                                const ExportOptions& options = {});
std::vector<std::string> exportForms();
/// The default forms: the durable forms, and LibTorch's own. A default form that cannot hold a
/// model is skipped with a note (`ExportRequest::formsChosen`).
std::vector<std::string> defaultExportForms();
/// The name of a form's file; empty for an unknown form.
std::string exportFile(const std::string& form);

/// Suffix of a form's file name for the data file of a form that is too large for one file. The
/// result document holds its hash too.
inline constexpr const char* kBesideSuffix = ".data";

/// Whether this program can open the form's file again; false for an unknown form.
bool isReadBack(const std::string& form);

/// Whether the form can hold integers that saturate at their observers' ranges (`SaturatingForm`).
bool holdsSaturatingForm(const std::string& form);
/// The graph that the form's file computes: lowered, the reference form, or, where it is wanted and
/// the form holds it, that with `SaturatingForm`. Errors: an unknown form (Usage), a model without
/// that graph (Internal).
Result<GraphPtr> exportedGraph(const ConvertedModel& converted, const std::string& form,
                               bool saturates, const JobContext& job = {});

/// The edits of the form that the file is written from; null without such, and for an unknown form.
EditedModelPtr exportedEdits(const ConvertedModel& converted, const std::string& form);

/// Fails (Unsupported, naming the model's file, the form and the node) if a form cannot hold an
/// operator of the float model, as far as that is known before converting. Ignores unknown
/// forms.
Result<void> checkForms(const Graph& model, const std::vector<std::string>& forms);

/// The files written beside the forms; `backend.json` if the backend is a file.
inline constexpr std::array<std::string_view, 4> kRecordFiles {"observations.npz", "recipe.json",
                                                               "backend.json", "result.json"};

/// The file that `verify` writes into the folder of a result.
inline constexpr const char* kCertificateFile = "certificate.json";

/// The writers. A cancel leaves no file. They write the record into the file. `names` gives
/// the names of modules, scales and zero points.
Result<void> writeTorchScript(const Graph& lowered, const std::string& path,
                              const JobContext& job = {},
                              const std::optional<ExportRecord>& record = {},
                              const CodeCalls& names = {});
Result<void> writePt2(const Graph& reference, const std::string& path, const JobContext& job = {},
                      const std::optional<ExportRecord>& record = {});
/// The same of a float model under a name of the user's, with the ranges of its training
/// (`keptRangesText`): the file appears whole or not at all.
Result<void> savePt2(const Graph& model, const std::string& path, const JobContext& job);

} // namespace qs
