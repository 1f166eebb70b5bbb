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
    bool saturates = false; ///< saturate at observers' ranges, if the form supports it
};

/// Writes one form of the converted model into `folder` by atomic rename; returns the path. `form`
/// is "torchscript" (lowered, model.int8.ts.pt), "pt2-reference" (model.reference.pt2), "pt2"
/// (model.int8.pt2), "onnx" (model.int8.onnx). Errors: an unknown form (Usage), a folder that
/// cannot be written, a graph that has no such form (names the node).
Result<std::string> exportModel(const ConvertedModel& converted, const std::string& form,
                                const std::string& folder, const JobContext& job = {},
                                const ExportOptions& options = {});
std::vector<std::string> exportForms();
/// The forms that are written if the user chooses none. A default form that cannot hold a model is
/// skipped with a note (`ExportRequest::formsChosen`).
std::vector<std::string> defaultExportForms();
/// The name of a form's file; empty for an unknown form.
std::string exportFile(const std::string& form);

/// Suffix of the data file beside a form's file, for a form that is too large for one file. The
/// result document holds the hash of the data file too.
inline constexpr const char* kBesideSuffix = ".data";

/// Whether this program can open the form's file again; false for an unknown form.
bool isReadBack(const std::string& form);

/// Whether the form can hold integers that saturate at their observers' ranges (`SaturatingForm`);
/// false for an unknown form.
bool holdsSaturatingForm(const std::string& form);
/// The graph that the form's file computes: the lowered form, the reference form or, if `saturates`
/// is set and the form supports it, the `SaturatingForm`. Errors: an unknown form (Usage), a model
/// without that graph (Internal).
Result<GraphPtr> exportedGraph(const ConvertedModel& converted, const std::string& form,
                               bool saturates, const JobContext& job = {});

/// The recipe's edits of the graph that the form's file is written from; null without edits and for
/// an unknown form.
EditedModelPtr exportedEdits(const ConvertedModel& converted, const std::string& form);

/// Fails (Unsupported, naming the model's file, the form and the node) if a form cannot hold an
/// operator of the float model, as far as that is known before converting. Ignores unknown
/// forms.
Result<void> checkForms(const Graph& model, const std::vector<std::string>& forms);

/// The trained model of the recipe's cure `train`, copied into the folder of a result.
inline constexpr const char* kTrainedFile = "trained.pt2";

/// The files written beside the forms; `backend.json` if the backend is a file.
inline constexpr std::array<std::string_view, 5> kRecordFiles {
    "observations.npz", "recipe.json", kTrainedFile, "backend.json", "result.json"};

/// The file that `verify` writes into the folder of a result.
inline constexpr const char* kCertificateFile = "certificate.json";

/// The writers store `record` in the file and leave no file if cancelled. `names` gives the names
/// of modules, scales and zero points.
Result<void> writeTorchScript(const Graph& lowered, const std::string& path,
                              const JobContext& job = {},
                              const std::optional<ExportRecord>& record = {},
                              const CodeCalls& names = {});
Result<void> writePt2(const Graph& reference, const std::string& path, const JobContext& job = {},
                      const std::optional<ExportRecord>& record = {});
/// Writes a float model as .pt2 to a path that the user chose, with the ranges from its training
/// (`keptRangesText`). Writes atomically.
Result<void> savePt2(const Graph& model, const std::string& path, const JobContext& job);

} // namespace qs
