// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/console.h"
#include "app/commands/device_option.h"
#include "engine/calibrate/calibrator.h"
#include "engine/configure/backend_config.h"
#include "engine/export/exporter.h"
#include "engine/kernels/device_plugin.h"
#include "engine/kernels/self_check.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>

#include <CLI/CLI.hpp>
#include <thread>

namespace qs {

namespace {

template<class List>
std::string joined(const List& words)
{
    std::string text;
    for (const auto& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text.empty() ? "none" : text;
}

std::vector<std::string> quantizedEngines()
{
    std::vector<std::string> names;
    for (const at::QEngine engine : at::globalContext().supportedQEngines())
        if (engine != at::QEngine::NoQEngine)
            names.push_back(at::toString(engine));
    return names;
}

std::string cudaText()
{
    const CudaFacts facts = cudaFacts();
    std::string text = facts.driver ? "driver for CUDA " + facts.driverVersion
            + "; devices: " + joined(facts.devices) + "; plug-in: "
            + (facts.pluginFound ? facts.pluginPath : "not found at " + facts.pluginPath)
                                    : "no";
    return facts.why.empty() ? text : text + " (" + facts.why + ")";
}

std::string factsText(const DeviceChoice& choice)
{
    std::string text = "quantscope " QUANTSCOPE_VERSION "\n";
    text += "processors          " + std::to_string(std::thread::hardware_concurrency()) + ", "
        + std::to_string(at::get_num_threads()) + " threads\n";
    text += "vector instructions " + at::get_cpu_capability() + "\n";
    text += "int8 engines        " + joined(quantizedEngines()) + "\n";
    text += "CUDA                " + cudaText() + "\n";
    text += "backends            " + joined(shippedBackends()) + "\n";
    text += "exports             " + joined(exportForms()) + "\n";
    text += "device              " + choice.device;
    return text + (choice.note.empty() ? "\n" : " (" + choice.note + ")\n");
}

Result<void> runDoctor(const std::string& device, const JobContext& job)
{
    QS_TRY(const DeviceChoice choice, chooseDevice(device));
    TextTable table({"kernel", "CPU", "CUDA", ">worst difference", "detail"});
    int failed = 0;
    for (const auto& name : selfCheckNames()) {
        QS_CHECK(job.check());
        job.report("doctor", name, 0);
        const SelfCheck check = runSelfCheck(name, choice.device);
        failed += !check.passed();
        char worst[32];
        std::snprintf(worst, sizeof worst, "%.2g", check.worst);
        const char* cuda = !check.cudaOk ? "-" : *check.cudaOk ? "good" : "BAD";
        table.add({name, check.cpuOk ? "good" : "BAD", cuda, worst, check.detail});
    }
    clearProgress();
    QS_CHECK(printOut(factsText(choice) + "\n" + table.text()));
    if (failed)
        return fail(ErrorCode::Device,
                    std::to_string(failed) + " kernel checks failed on " + choice.device);
    return {};
}

} // namespace

void addDoctorCommand(CLI::App& app, Command& chosen)
{
    auto device = std::make_shared<std::string>("auto");
    CLI::App* verb
        = app.add_subcommand("doctor", "Says what this machine can do and checks the kernels");
    addDeviceOption(*verb, *device);
    verb->callback([device, &chosen] {
        chosen = [device](const JobContext& job) { return runDoctor(*device, job); };
    });
}

} // namespace qs
