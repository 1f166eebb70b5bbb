// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/certificate.h"

#include "engine/base/files/read_file.h"
#include "engine/result/error_json.h"
#include "engine/verify/certificate_rows.h"

#include <ATen/Version.h>
#include <ATen/cpu/Utils.h>

#include <algorithm>
#include <fstream>

namespace qs {

namespace {

/// The flags of a processor that matter for int8 kernels.
std::string instructionsIn(const std::string& flags)
{
    static constexpr std::array<const char*, 12> kOfInt8 {
        "avx2",     "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8",
        "amx_bf16", "asimd",    "asimddp", "i8mm",        "sve",         "bf16"};
    std::string found;
    for (const char* wanted : kOfInt8)
        if ((" " + flags + " ").find(" " + std::string(wanted) + " ") != std::string::npos)
            found += (found.empty() ? "; " : " ") + std::string(wanted);
    return found;
}

const char* outcomeName(RuntimeVerdict::Outcome outcome)
{
    switch (outcome) {
    case RuntimeVerdict::Outcome::Passed:
        return "passed";
    case RuntimeVerdict::Outcome::Failed:
        return "failed";
    case RuntimeVerdict::Outcome::NotCompared:
        return "not compared";
    case RuntimeVerdict::Outcome::NotVerified:
        return "not verified";
    default:
        return "not run";
    }
}

/// The state as text; null for a model without state.
Json stateJson(CallState state)
{
    if (state == CallState::None)
        return nullptr;
    return state == CallState::Saved ? "saved" : "sequence";
}

Json speedJson(const SpeedReport& speed)
{
    Json operators = Json::array();
    for (const OperatorTime& kind : speed.operators)
        operators.push_back({{"kind", kind.kind},
                             {"float_ms", kind.floatMs},
                             {"int8_ms", kind.int8Ms},
                             {"fell_back_ms", kind.fellBackMs},
                             {"fell_back", kind.fellBack}});
    return {{"float_ms", speed.floatMs}, {"int8_ms", speed.int8Ms},
            {"speedup", speed.speedup},  {"rounds", speed.rounds},
            {"samples", speed.samples},  {"operators", std::move(operators)},
            {"error", speed.error},      {"lines", speedLines(speed, hasDotProduct())}};
}

Json stepsJson(const VerifiedSteps& steps)
{
    Json nodes = Json::array();
    for (const NodeSteps& node : steps.byNode)
        nodes.push_back({{"node", node.node}, {"histogram", node.bins}, {"largest", node.largest}});
    return {{"nodes", steps.nodes},
            {"equal", steps.equal},
            {"one", steps.one},
            {"more", steps.more},
            {"largest", steps.largest},
            {"first_node", steps.firstNode},
            {"starts_with_ties", steps.startsWithTies},
            {"histogram_up_to", NodeSteps::kMost},
            {"by_node", std::move(nodes)}};
}

Json verdictJson(const RuntimeVerdict& verdict, const CertificateRow& row)
{
    Json outputs = Json::array();
    for (const VerifiedOutput& output : verdict.outputs)
        outputs.push_back({{"name", output.name},
                           {"agreement_db", numberJson(output.agreementDb)},
                           {"max_abs", output.maxAbs},
                           {"float_db", numberJson(output.floatDb)},
                           {"own_float_db", numberJson(output.ownFloatDb)}});
    Json json {{"runtime", verdict.runtime},
               {"form", verdict.form},
               {"file", verdict.file},
               {"outcome", outcomeName(verdict.outcome)},
               {"reason", verdict.reason},
               {"versions", verdict.versions},
               {"notes", verdict.notes},
               {"warnings", verdict.warnings},
               {"lines", row.lines},
               {"outputs", std::move(outputs)},
               {"steps", nullptr}};
    if (verdict.steps)
        json["steps"] = stepsJson(*verdict.steps);
    if (const auto& alone = verdict.alone)
        json["steps_alone"] = {{"nodes", alone->nodes}, {"elements", alone->elements},
                               {"one", alone->one},     {"more", alone->more},
                               {"ties", alone->ties},   {"choices", alone->choices},
                               {"worse", alone->worse}, {"output_db", numberJson(alone->outputDb)}};
    if (verdict.speed)
        json["speed"] = speedJson(*verdict.speed);
    return json;
}

} // namespace

bool Certificate::has(RuntimeVerdict::Outcome outcome) const
{
    return std::any_of(verdicts.begin(), verdicts.end(), [&](const RuntimeVerdict& verdict) {
        return verdict.outcome == outcome
            && (outcome == RuntimeVerdict::Outcome::Failed
                || outcome == RuntimeVerdict::Outcome::NotVerified || !verdict.runtime.empty());
    });
}

bool Certificate::ran() const
{
    return std::any_of(verdicts.begin(), verdicts.end(), [](const RuntimeVerdict& verdict) {
        return !verdict.runtime.empty() && verdict.outcome != RuntimeVerdict::Outcome::NotRun;
    });
}

bool Certificate::passed() const
{
    return !has(RuntimeVerdict::Outcome::Failed) && !has(RuntimeVerdict::Outcome::NotVerified)
        && (compared() || has(RuntimeVerdict::Outcome::NotCompared));
}

std::string certificateJson(const Certificate& certificate)
{
    Json verdicts = Json::array();
    const auto rows = certificateRows(certificate);
    for (std::size_t i = 0; i < rows.size(); ++i)
        verdicts.push_back(verdictJson(certificate.verdicts[i], rows[i]));
    const Json json {
        {"format", "quantscope.certificate"},
        {"version", 1},
        {"passed", certificate.passed()},
        {"date", certificate.date},
        {"model_sha256", certificate.modelSha256},
        {"recipe_sha256", certificate.recipeSha256},
        {"data",
         {{"path", certificate.data},
          {"sha256", certificate.dataSha256},
          {"batches", certificate.batches},
          {"samples", certificate.samples}}},
        {"versions", {{"quantscope", QUANTSCOPE_VERSION}, {"torch", QUANTSCOPE_TORCH_VERSION}}},
        {"processor", certificate.processor},
        {"threads", certificate.threads},
        {"state", stateJson(certificate.state)},
        {"files", certificate.files},
        {"verdicts", std::move(verdicts)}};
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::map<std::string, std::string> certifiedFiles(const std::string& text)
{
    std::map<std::string, std::string> files;
    if (isDeepJson(text))
        return files;
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || json.value("format", Json()) != "quantscope.certificate"
        || !json.contains("files") || !json["files"].is_object())
        return files;
    for (const auto& [name, hash] : json["files"].items())
        if (hash.is_string())
            files[name] = hash.get<std::string>();
    return files;
}

std::string processorText()
{
    std::ifstream in("/proc/cpuinfo");
    std::string line, name = "unknown processor", instructions;
    while (std::getline(in, line) && !line.empty()) { // only the entry of the first core
        const std::size_t colon = line.find(": ");
        if (colon == std::string::npos)
            continue;
        if (line.starts_with("model name"))
            name = line.substr(colon + 2);
        else if (line.starts_with("flags") || line.starts_with("Features"))
            instructions = instructionsIn(line.substr(colon + 2));
    }
    return name + "; " + at::get_cpu_capability() + instructions;
}

bool hasDotProduct()
{
    return at::cpu::is_avx512_vnni_supported();
}

} // namespace qs
