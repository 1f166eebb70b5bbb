// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/export_record.h"

#include <map>
#include <optional>
#include <string>

namespace qs {

/// The metadata pairs of an ONNX file; reads only the part of the file that it needs. Errors: the
/// file cannot be read, or is not a protobuf message.
Result<std::map<std::string, std::string>> onnxMetadata(const std::string& path);

/// Converts a record to metadata pairs, and back; the result is empty if no pair is Quantscope's.
std::map<std::string, std::string> onnxPairs(const ExportRecord& record);
std::optional<ExportRecord> recordFromPairs(const std::map<std::string, std::string>& pairs);

} // namespace qs
