// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/doctor.h"

#include "app/commands/command.h"
#include "app/commands/options/device_option.h"
#include "app/commands/text/console.h"
#include "engine/base/text.h"
#include "engine/configure/backend_config.h"
#include "engine/export/exporter.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace qs {

namespace {

std::string cudaText(const CudaFacts& facts)
{
    std::string text = "no";
    if (facts.driver)
        text = "driver for CUDA " + facts.driverVersion + "; devices: " + joined(facts.devices)
            + "; plug-in " + (facts.pluginFound ? "" : "not found at ") + facts.pluginPath;
    return facts.why.empty() ? text : text + " (" + facts.why + ")";
}

std::string factsText(const DoctorReport& report)
{
    std::string text = "quantscope " QUANTSCOPE_VERSION ", LibTorch " + report.torchVersion + "\n";
    text += "CPU          " + report.cpu + ", " + counted(report.threads, "thread") + "\n";
    text += "int8 engine  " + report.quantizedEngine + "\n";
    text += "CUDA         " + cudaText(report.cuda) + "\n";
    text += "backends     " + joined(shippedBackends()) + "\n";
    text += "exports      " + joined(exportForms()) + "\n";
    text += "device       " + report.device;
    return text + (report.deviceNote.empty() ? "\n" : " (" + report.deviceNote + ")\n");
}

std::string checksText(const DoctorReport& report)
{
    TextTable table({"kernel", "CPU", "CUDA", ">worst difference", "detail"});
    for (const SelfCheck& check : report.checks) {
        const char* cuda = "-";
        if (check.cudaOk)
            cuda = *check.cudaOk ? "good" : "BAD";
        table.add({check.name, check.cpuOk ? "good" : "BAD", cuda, numberText(check.worst, 2),
                   check.detail});
    }
    return table.text();
}

Result<void> printDoctor(const std::string& device)
{
    QS_TRY(const DoctorReport report, runDoctor(device));
    QS_CHECK(printOut(factsText(report) + "\n" + checksText(report)));
    const auto failed = std::count_if(report.checks.begin(), report.checks.end(),
                                      [](const SelfCheck& check) { return !check.passed(); });
    if (failed)
        return fail(ErrorCode::Device,
                    std::to_string(failed) + " kernel checks failed on " + report.device);
    return {};
}

} // namespace

void addDoctorCommand(CLI::App& app, Command& chosen)
{
    auto device = std::make_shared<std::string>("auto");
    CLI::App* verb = app.add_subcommand(
        "doctor", "Reports the abilities of this machine and checks the kernels");
    addDeviceOption(*verb, *device);
    verb->callback([device, &chosen] {
        chosen = [device](const CommandRun&) { return printDoctor(*device); };
    });
}

} // namespace qs
