// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/export_record.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

class Pt2Archive;

/// The record of an archive, .pt2 and TorchScript alike: PyTorch hands it out as the extra file
/// "quantscope.json".
inline constexpr const char* kExportRecordFile = "quantscope.json";
inline constexpr const char* kExportRecordPath = "extra/quantscope.json";

std::string exportRecordText(const ExportRecord& record);
/// Nothing if the text is not a record.
std::optional<ExportRecord> parseExportRecord(const std::string& text);
/// Nothing if the archive has no record.
std::optional<ExportRecord> exportRecordOf(const Pt2Archive& archive);

/// The runtime that a file will run under.
struct RunsUnder
{
    std::string engine; ///< "x86"
    std::string torch; ///< "2.11.0+cpu"; "" = not known
};

/// The LibTorch that this program was built with.
std::string ownTorchVersion();

/// One line for each difference from the time when the file was written: engine, version of torch.
/// Empty if all is the same.
std::vector<std::string> recordFindings(const ExportRecord& record, const RunsUnder& now);

} // namespace qs
