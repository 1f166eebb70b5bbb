// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/model/model_run.h"
#include "engine/export/exporter.h"
#include "engine/export/onnx/onnx_target.h"
#include "engine/export/onnx_opset.h"

#include <string>
#include <vector>

namespace qs {

inline constexpr const char* kAtObserver = "observer"; ///< `QuantizeOptions::saturate`
inline constexpr const char* kAtType = "type";

struct QuantizeOptions : ModelRunOptions
{
    std::string out;
    std::vector<std::string> forms = defaultExportForms();
    std::int64_t onnxOpset = kOnnxOpset;
    std::string onnxTarget; ///< "" = generic
    std::string saturate; ///< "observer": `ExportOptions::saturates`; "" = "type"
    bool formsChosen = false; ///< the user chose them: each must be written
    bool alternatives = false;
    bool why = false; ///< report the causes of the outputs' noise
    bool timing = false; ///< report the times of the stages and nodes
    bool json = false;
};

/// Runs the whole job: plan, calibrate, convert, compare, export; writes the result folder.
Result<void> runQuantize(const QuantizeOptions& options, const CommandRun& job);

} // namespace qs
