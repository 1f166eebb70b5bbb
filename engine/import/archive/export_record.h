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
/// Nothing where the text is no record.
std::optional<ExportRecord> parseExportRecord(const std::string& text);
/// Nothing where the archive carries none.
std::optional<ExportRecord> exportRecordOf(const Pt2Archive& archive);

/// What a file is going to run under.
struct RunsUnder
{
    std::string engine; ///< "x86"
    std::string torch; ///< "2.11.0+cpu"; "" = not known
};

/// The LibTorch that this program was built with.
std::string ownTorchVersion();

/// One plain line for each thing that is not as it was when the file was written: engine, version
/// of torch. Empty where all is the same.
std::vector<std::string> recordFindings(const ExportRecord& record, const RunsUnder& now);

} // namespace qs
