// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/console.h"
#include "app/commands/restored_result.h"
#include "engine/base/atomic_file.h"
#include "engine/base/log.h"
#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/export/stored_run.h"
#include "engine/verify/python_run.h"
#include "engine/verify/verifier.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace qs {

namespace {

namespace fs = std::filesystem;

constexpr const char* kCertificateFile = "certificate.json";

struct VerifyOptions
{
    std::string folder, data, model, python;
    std::vector<std::string> runtimes;
    bool json = false;
};

Result<void> checkRuntimes(const std::vector<std::string>& names)
{
    std::vector<std::string> known;
    for (const Runtime& runtime : runtimes())
        if (std::find(known.begin(), known.end(), runtime.name) == known.end())
            known.emplace_back(runtime.name);
    for (const std::string& name : names)
        if (!isRuntime(name))
            return fail(makeError(ErrorCode::Usage, "--runtime: there is no " + inQuotes(name))
                            .withHint("one of " + joined(known)));
    return {};
}

/// What an export keeps beside its file: weights over 2 GB of an ONNX model.
std::vector<std::string> filesBeside(const std::string& folder, const std::string& file)
{
    std::vector<std::string> found;
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(folder, code)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(file + ".") && entry.is_regular_file(code))
            found.push_back(name);
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// Names files that are no longer what an earlier certificate of the same result was about.
void failChanged(Certificate& certificate, const std::string& folder)
{
    std::ifstream in(fs::path(folder) / kCertificateFile, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    const auto before = certifiedFiles(text.str());
    const auto result = before.find("result.json");
    if (result == before.end() || result->second != certificate.files["result.json"])
        return; // of another run
    for (const auto& [name, hash] : before) {
        const auto now = certificate.files.find(name);
        if (now != certificate.files.end() && now->second == hash)
            continue;
        RuntimeVerdict verdict;
        verdict.file = name;
        verdict.outcome = RuntimeVerdict::Outcome::Failed;
        verdict.reason = now == certificate.files.end()
            ? "it was certified, and is gone"
            : "its bytes are not those of the certificate";
        const bool told = std::any_of(certificate.verdicts.begin(), certificate.verdicts.end(),
                                      [&](const RuntimeVerdict& other) {
                                          return other.file == name
                                              && other.outcome == RuntimeVerdict::Outcome::Failed;
                                      });
        if (!told)
            certificate.verdicts.push_back(std::move(verdict));
    }
}

std::string decibelText(const std::optional<double>& value)
{
    return !value ? "" : *value >= 200 ? "exact" : fixedText(*value, 1) + " dB";
}

std::string certificateText(const Certificate& certificate)
{
    TextTable table({"file", "runtime", "result", ">agreement", ">against float", ">ours"});
    std::string more;
    for (const RuntimeVerdict& verdict : certificate.verdicts) {
        const bool failed = verdict.outcome == RuntimeVerdict::Outcome::Failed;
        if (verdict.runtime.empty() && !failed)
            continue;
        const VerifiedOutput worst = verdict.outputs.empty()
            ? VerifiedOutput()
            : *std::min_element(verdict.outputs.begin(), verdict.outputs.end(),
                                [](const VerifiedOutput& a, const VerifiedOutput& b) {
                                    return a.agreementDb.value_or(200)
                                        < b.agreementDb.value_or(200);
                                });
        table.add({verdict.file, verdict.runtime.empty() ? "(bytes)" : verdict.runtime,
                   failed                                                   ? "FAILED"
                       : verdict.outcome == RuntimeVerdict::Outcome::Passed ? "passed"
                                                                            : "not run",
                   decibelText(worst.agreementDb), decibelText(worst.floatDb),
                   decibelText(worst.ownFloatDb)});
        const std::string where
            = verdict.file + (verdict.runtime.empty() ? "" : " in " + verdict.runtime);
        if (!verdict.reason.empty())
            more += where + ": " + verdict.reason + "\n";
        if (verdict.steps && verdict.steps->equal + verdict.steps->one + verdict.steps->more > 0) {
            const VerifiedSteps& steps = *verdict.steps;
            more += where + ": of " + std::to_string(steps.equal + steps.one + steps.more)
                + " integers in " + counted(steps.nodes, "node") + " " + std::to_string(steps.one)
                + " are one step off, " + std::to_string(steps.more) + " more"
                + (verdict.notes.contains("cause") ? " (" + verdict.notes.at("cause") + ")" : "")
                + "\n";
        }
        if (const auto kernels = verdict.notes.find("int8_kernels"); kernels != verdict.notes.end())
            more += where + ": " + kernels->second + " int8 kernels were matched\n";
    }
    return table.text() + (more.empty() ? "" : "\n" + more);
}

Result<StoredRun> storedRun(const VerifyOptions& options)
{
    QS_TRY(StoredRun stored, readStoredRun(options.folder));
    if (stored.exports.empty())
        return fail(makeError(ErrorCode::BadInput, "the result has no exports")
                        .inFile((fs::path(stored.folder) / "result.json").string())
                        .withHint("quantize with --export"));
    return stored;
}

Result<void> runVerify(const VerifyOptions& options, const JobContext& job)
{
    QS_CHECK(checkRuntimes(options.runtimes));
    QS_TRY(const StoredRun stored, storedRun(options));
    StageChain chain;
    const RunSettings settings {options.data, {}, "cpu"};
    const std::string model = options.model.empty() ? stored.modelPath : options.model;
    QS_TRY(const RestoredResult restored,
           restoreResult(chain, stored.folder, model, settings, job));
    QS_TRY(const auto data,
           chain.data(*restored.planned.model, options.data, stored.recipe.calibration));
    const VerifyRequest request {
        *restored.converted, *data,
        stored.folder,       stored.exports,
        stored.exportHashes, options.python.empty() ? usualPython() : options.python,
        options.runtimes};
    QS_TRY(Certificate certificate, verifyExports(request, job));
    certificate.modelSha256 = restored.planned.model->info().sha256;
    certificate.recipeSha256 = restored.recipeSha256;
    certificate.data = options.data;
    ContentHashes hashes;
    QS_TRY(certificate.dataSha256, hashes.of(options.data, certificate.modelSha256));
    for (const char* name : {"result.json", "recipe.json", "observations.npz"})
        if (const auto hash = fileSha256((fs::path(stored.folder) / name).string()))
            certificate.files[name] = *hash;
    for (const auto& [form, file] : stored.exports)
        for (const std::string& beside : filesBeside(stored.folder, file))
            if (const auto hash = fileSha256((fs::path(stored.folder) / beside).string()))
                certificate.files[beside] = *hash;
    failChanged(certificate, stored.folder);
    const std::string path = (fs::path(stored.folder) / kCertificateFile).string();
    const bool passed = certificate.passed();
    // A certificate that says what was found to be changed would hide the change from the next.
    if (passed)
        QS_CHECK(writeFileAtomically(path, certificateJson(certificate)));
    QS_CHECK(printOut(options.json ? certificateJson(certificate) : certificateText(certificate)));
    if (!passed) {
        std::int64_t failed = 0;
        for (const RuntimeVerdict& verdict : certificate.verdicts)
            failed += verdict.outcome == RuntimeVerdict::Outcome::Failed ? 1 : 0;
        return fail(makeError(ErrorCode::Numeric,
                              failed > 0 ? counted(failed, "check") + " failed"
                                         : "no export could be run in any runtime")
                        .inFile(stored.folder));
    }
    if (!options.json)
        return printOut("\n" + path + "\n");
    return {};
}

} // namespace

void addVerifyCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<VerifyOptions>();
    CLI::App* verb = app.add_subcommand(
        "verify", "Runs every export in the runtimes it is for, and holds it to what was promised");
    verb->add_option("DIR", options->folder, "what 'quantize --out' wrote")->required();
    verb->add_option("--data", options->data,
                     "a .npz, a .pt of torch.save, a folder of images, or 'sample'")
        ->required();
    verb->add_option("--model", options->model,
                     "the model that the result was made from, where it has moved");
    verb->add_option("--python", options->python,
                     "the Python that has the runtimes; without, the one LibTorch lies in");
    verb->add_option("--runtime", options->runtimes,
                     "only these: torch.jit, torch.export, torch.compile, onnxruntime, "
                     "onnxruntime-optimized")
        ->delimiter(',');
    verb->add_flag("--json", options->json, "the certificate on stdout");
    verb->callback([options, &chosen] {
        chosen = [options](const JobContext& job) { return runVerify(*options, job); };
    });
}

} // namespace qs
