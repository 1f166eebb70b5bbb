// SPDX-License-Identifier: Apache-2.0
#include "engine/import/archive/export_record.h"

#include "engine/base/files/read_file.h"
#include "engine/base/text.h"
#include "engine/import/archive/pt2_archive.h"

#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostBytes = 1 << 16;
constexpr const char* kFormat = "quantscope.export";

/// Returns "2.11.0" for "2.11.0+cu130": all builds of a version compute the same.
std::string release(const std::string& version)
{
    return version.substr(0, version.find('+'));
}

std::string textAt(const Json& json, const char* key)
{
    const auto it = json.find(key);
    return it != json.end() && it->is_string() ? it->get<std::string>() : std::string();
}

} // namespace

std::string exportRecordText(const ExportRecord& record)
{
    const Json json {{"format", kFormat},
                     {"version", 1},
                     {"quantscope", record.program},
                     {"torch", record.torch},
                     {"engine", record.engine},
                     {"recipe_sha256", record.recipeSha256},
                     {"model_sha256", record.modelSha256}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<ExportRecord> parseExportRecord(const std::string& text)
{
    if (isDeepJson(text))
        return std::nullopt;
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || textAt(json, "format") != kFormat)
        return std::nullopt;
    return ExportRecord {textAt(json, "quantscope"), textAt(json, "torch"), textAt(json, "engine"),
                         textAt(json, "recipe_sha256"), textAt(json, "model_sha256")};
}

std::optional<ExportRecord> exportRecordOf(const Pt2Archive& archive)
{
    if (!archive.has(kExportRecordPath) || archive.size(kExportRecordPath) > kMostBytes)
        return std::nullopt;
    const auto text = archive.read(kExportRecordPath);
    return text ? parseExportRecord(*text) : std::nullopt;
}

std::string ownTorchVersion()
{
    return QUANTSCOPE_TORCH_VERSION;
}

std::vector<std::string> recordFindings(const ExportRecord& record, const RunsUnder& now)
{
    std::vector<std::string> lines;
    if (!record.engine.empty() && record.engine != now.engine)
        lines.push_back("made for the quantized engine " + inQuotes(record.engine)
                        + "; this runtime uses " + inQuotes(now.engine)
                        + ": integer results may differ; in Python set "
                          "torch.backends.quantized.engine to "
                        + inQuotes(record.engine) + " before loading it");
    const bool known = !record.torch.empty() && !now.torch.empty();
    if (known && release(record.torch) != release(now.torch))
        lines.push_back("made with torch " + release(record.torch) + "; this runtime uses torch "
                        + release(now.torch)
                        + ": integer results may differ; use that version, or export it again");
    return lines;
}

} // namespace qs
