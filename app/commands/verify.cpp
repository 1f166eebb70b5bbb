// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/model/restored_result.h"
#include "app/commands/text/console.h"
#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/export/exporter.h"
#include "engine/result/stored_run.h"
#include "engine/verify/certificate_rows.h"
#include "engine/verify/runtimes.h"

#include <CLI/CLI.hpp>
#include <filesystem>

namespace qs {

namespace {

namespace fs = std::filesystem;

struct VerifyOptions
{
    std::string folder, data, model, python;
    std::vector<std::string> runtimes;
    bool speed = false;
    bool json = false;
};

Result<void> checkRuntimes(const std::vector<std::string>& names)
{
    for (const std::string& name : names)
        if (!isRuntime(name))
            return fail(makeError(ErrorCode::Usage, "--runtime: there is no " + inQuotes(name))
                            .withHint("one of " + joined(runtimeNames())));
    return {};
}

std::string certificateText(const Certificate& certificate)
{
    TextTable table({"file", "runtime", "result", ">agreement", ">against float", ">ours"});
    std::string more;
    const auto rows = certificateRows(certificate);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const CertificateRow& row = rows[i];
        for (const std::string& line : row.lines)
            more += placeOf(certificate.verdicts[i]) + ": " + line + "\n";
        if (row.isShown)
            table.add({row.file, row.runtime, row.outcome, row.agreement, row.there, row.here});
    }
    const std::string state = stateText(certificate.state);
    if (!certificate.setup.empty() && certificate.passed())
        more += certificate.setup + "\n";
    return table.text() + (more.empty() ? "" : "\n" + more)
        + (state.empty() ? "" : "\n" + state + "\n");
}

Result<void> runVerify(const VerifyOptions& options, const CommandRun& job)
{
    QS_CHECK(checkRuntimes(options.runtimes));
    QS_TRY(StoredRun stored, readStoredRun(options.folder, job));
    StageChain chain;
    const RunSettings settings {options.data, {}, "cpu"};
    const std::string model = options.model.empty() ? stored.modelPath : options.model;
    QS_TRY(const RestoredResult restored,
           restoreResult(chain, {stored.folder, model, settings}, job));
    const std::string folder = stored.folder;
    if (restored.planned.model->info().trained)
        qs::note(
            "the float results here are those of the trained weights, not of the model before its "
            "training");
    showStepsAsLines(); // verifying takes minutes
    QS_TRY(const Certificate certificate,
           chain.verify({restored.converted, std::move(stored), options.data, options.python,
                         options.runtimes, options.speed},
                        job));
    QS_CHECK(printOut(options.json ? certificateJson(certificate) : certificateText(certificate)));
    if (const std::string failure = failureText(certificate); !failure.empty())
        return fail(
            makeError(ErrorCode::Numeric, failure).inFile(folder).withHint(certificate.setup));
    if (!options.json)
        return printOut("\n" + (fs::path(folder) / kCertificateFile).string() + "\n");
    return {};
}

} // namespace

void addVerifyCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<VerifyOptions>();
    CLI::App* verb = app.add_subcommand(
        "verify", "Runs every export in its runtimes and compares it with the recorded results");
    verb->add_option("DIR", options->folder, "what 'quantize --out' wrote")->required();
    verb->add_option("--data", options->data,
                     "a .npz, a .pt of torch.save, a folder of images, .tar shards, or 'sample'")
        ->required();
    verb->add_option("--model", options->model,
                     "the model that the result was made from, if it was moved");
    verb->add_option("--python", options->python,
                     "Python with the runtimes; default: the one that contains LibTorch");
    verb->add_option("--runtime", options->runtimes,
                     "only these; each must be installed: " + joined(runtimeNames()))
        ->delimiter(',');
    verb->add_flag("--speed", options->speed,
                   "time the float and the int8 model too, side by side in each runtime but "
                   "torch.export and ONNX Runtime without optimizations; takes at most as long "
                   "again");
    verb->add_flag("--json", options->json, "the certificate on stdout");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun& job) { return runVerify(*options, job); };
    });
}

} // namespace qs
