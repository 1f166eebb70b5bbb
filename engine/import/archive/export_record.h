// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/export_record.h"

#include <optional>
#include <string>
#include <vector>

namespace qs {

class Pt2Archive;

/// The export record's path in a .pt2 or TorchScript archive. PyTorch returns it as the extra file
/// "quantscope.json".
inline constexpr const char* kExportRecordFile = "quantscope.json";
inline constexpr const char* kExportRecordPath = "extra/quantscope.json";

std::string exportRecordText(const ExportRecord& record);
/// Returns nullopt if the text is not a record.
std::optional<ExportRecord> parseExportRecord(const std::string& text);
/// Returns nullopt if the archive has no record.
std::optional<ExportRecord> exportRecordOf(const Pt2Archive& archive);

/// The runtime that will run a file.
struct RunsUnder
{
    std::string engine; ///< "x86"
    std::string torch; ///< "2.11.0+cpu"; "" = unknown
};

/// The LibTorch that this program was built with.
std::string ownTorchVersion();

/// Returns one line per difference between the record and the runtime `now`: engine, torch version.
std::vector<std::string> recordFindings(const ExportRecord& record, const RunsUnder& now);

} // namespace qs
