// SPDX-License-Identifier: Apache-2.0
#include "engine/import/trace_report.h"

#include "engine/base/files/read_file.h"
#include "engine/base/log.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using nlohmann::json;
using Kind = TraceFinding::Kind;

constexpr int kTraceVersion = 1;
constexpr std::uintmax_t kMaxBytes = 64u << 20;

/// Returns a member as text; empty if it is missing or not a string.
std::string textOf(const json& object, const char* key)
{
    const auto it = object.find(key);
    return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

int intOf(const json& object, const char* key)
{
    const auto it = object.find(key);
    return it != object.end() && it->is_number_integer() ? it->get<int>() : 0;
}

const json& listOf(const json& object, const char* key)
{
    static const json none = json::array();
    const auto it = object.find(key);
    return it != object.end() && it->is_array() ? *it : none;
}

TraceFinding commonPart(const json& entry, Kind kind)
{
    TraceFinding finding;
    finding.kind = kind;
    finding.module = textOf(entry, "module");
    finding.moduleClass = textOf(entry, "class");
    finding.file = textOf(entry, "file");
    finding.line = std::max(0, intOf(entry, "line"));
    finding.code = textOf(entry, "code");
    finding.hint = textOf(entry, "hint");
    return finding;
}

TraceFinding readFailure(const json& entry, const std::string& mode)
{
    const std::string attempt = textOf(entry, "attempt");
    TraceFinding finding
        = commonPart(entry, mode == "draft" && attempt == "draft" ? Kind::Frozen : Kind::Failure);
    finding.what = textOf(entry, "cause");
    if (finding.what.empty())
        finding.what = "the export failed";
    const std::string kind = textOf(entry, "kind");
    const std::string message = textOf(entry, "message");
    if (!message.empty() && finding.kind == Kind::Failure
        && (kind == "unsupported" || kind == "not_running" || kind == "not_saved"
            || kind == "dynamic_shape"))
        finding.what += " (" + message + ")";
    if (!attempt.empty())
        finding.attempts.push_back(attempt);
    return finding;
}

TraceFinding readUntaken(const json& entry)
{
    TraceFinding finding = commonPart(entry, Kind::Untaken);
    const std::string condition = textOf(entry, "condition");
    const int first = intOf(entry, "first_line"), last = intOf(entry, "last_line");
    finding.what = "not run";
    if (first > 0)
        finding.what += last > first
            ? ", lines " + std::to_string(first) + " to " + std::to_string(last)
            : ", line " + std::to_string(first);
    if (!condition.empty())
        finding.what += ", wanted " + condition;
    for (const json& module : listOf(entry, "modules"))
        if (module.is_string())
            finding.modules.push_back(module.get<std::string>());
    const auto elsewhere = entry.find("taken_elsewhere");
    finding.takenElsewhere
        = elsewhere != entry.end() && elsewhere->is_boolean() && elsewhere->get<bool>();
    return finding;
}

TraceFinding readTraining(const json& entry)
{
    TraceFinding finding = commonPart(entry, Kind::Training);
    const int count = intOf(entry, "modules");
    finding.what = count > 1
        ? "in training mode, as are " + std::to_string(count - 1) + " modules inside"
        : "in training mode";
    return finding;
}

TraceFinding withWhat(TraceFinding finding, const char* what)
{
    finding.what = what;
    return finding;
}

/// Adds a finding; merges equal failures of several attempts.
void addFinding(std::vector<TraceFinding>& findings, TraceFinding finding)
{
    for (TraceFinding& known : findings) {
        TraceFinding same = known;
        same.attempts = finding.attempts;
        if (finding.kind == Kind::Failure && same == finding) {
            known.attempts.insert(known.attempts.end(), finding.attempts.begin(),
                                  finding.attempts.end());
            return;
        }
    }
    findings.push_back(std::move(finding));
}

std::vector<TraceFinding> readFindings(const json& document, const std::string& mode)
{
    std::vector<TraceFinding> findings;
    const auto each = [&](const char* key, auto&& read) {
        for (const json& entry : listOf(document, key))
            if (entry.is_object())
                addFinding(findings, read(entry));
    };
    each("failures", [&](const json& entry) { return readFailure(entry, mode); });
    each("untaken", readUntaken);
    each("training", readTraining);
    each("stubs", [](const json& entry) {
        return withWhat(commonPart(entry, Kind::Stub), "an eager-mode quantization stub");
    });
    each("advice", [](const json& entry) {
        return withWhat(commonPart(entry, Kind::Advice), "runs, but may freeze or break an export");
    });
    return findings;
}

/// Returns why a document cannot be used; empty if it can.
std::string problemOf(const json& document, const std::string& sha256)
{
    if (!document.is_object())
        return "is not a JSON object";
    if (textOf(document, "format") != "quantscope.trace")
        return "is not a record of the export helper";
    if (intOf(document, "version") != kTraceVersion)
        return "has version " + std::to_string(intOf(document, "version"))
            + ", this program reads version " + std::to_string(kTraceVersion);
    if (const auto it = document.find("exported"); it != document.end() && it->is_object()) {
        const std::string recorded = textOf(*it, "sha256");
        if (!sha256.empty() && !recorded.empty() && recorded != sha256)
            return "belongs to another export than the model file beside it";
    }
    return {};
}

} // namespace

std::string TraceFinding::place() const
{
    std::string text;
    if (!file.empty())
        text = std::filesystem::path(file).filename().string()
            + (line > 0 ? ":" + std::to_string(line) : "");
    if (!code.empty())
        text += (text.empty() ? "" : ": ") + code;
    return text;
}

const char* traceKindName(TraceFinding::Kind kind)
{
    static constexpr const char* kNames[]
        = {"failure", "frozen", "untaken", "advice", "training", "stub"};
    return kNames[std::size_t(kind)];
}

std::optional<TraceReport> readTraceReport(const std::string& modelPath, const std::string& sha256)
{
    TraceReport report;
    report.path = modelPath + ".trace.json";
    std::error_code error;
    if (!std::filesystem::is_regular_file(report.path, error))
        return {};
    const auto useless = [&](const std::string& why) -> std::optional<TraceReport> {
        note(report.path + ": " + why + "; it is left out");
        return {};
    };
    if (std::filesystem::file_size(report.path, error) > kMaxBytes || error)
        return useless("is too large");
    std::ifstream in(report.path, std::ios::binary);
    const std::string text {std::istreambuf_iterator<char>(in), {}};
    if (!in)
        return useless("cannot be read");
    const json document
        = isDeepJson(text) ? json(json::value_t::discarded) : json::parse(text, nullptr, false);
    if (document.is_discarded())
        return useless("is not valid JSON");
    if (const std::string problem = problemOf(document, sha256); !problem.empty())
        return useless(problem);
    if (const auto it = document.find("exported"); it != document.end() && it->is_object())
        report.mode = textOf(*it, "mode");
    const std::string torch = textOf(document, "torch");
    report.producer = torch.empty() ? torch : "torch " + torch;
    report.findings = readFindings(document, report.mode);
    return report;
}

} // namespace qs
