// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/doctor.h"

#include "engine/base/torch_guard.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>

#include <algorithm>

namespace qs {

namespace {

std::string engineName()
{
    switch (at::globalContext().qEngine()) {
    case at::QEngine::FBGEMM:
        return "fbgemm";
    case at::QEngine::QNNPACK:
        return "qnnpack";
    case at::QEngine::ONEDNN:
        return "onednn";
    case at::QEngine::X86:
        return "x86";
    default:
        return "none";
    }
}

// Returns the device to check in addition to the CPU. A present device whose self-check fails is
// included: the report is about it.
Result<std::string> checkedDevice(const std::string& asked, DoctorReport& report)
{
    if (asked == "cpu")
        return std::string("cpu");
    std::string wanted = asked == "auto" || asked == "cuda" ? "cuda:0" : asked;
    std::string why = report.cuda.why;
    if (wanted.rfind("cuda:", 0) != 0)
        return fail(makeError(ErrorCode::Usage, "'" + asked + "' is not a device")
                        .withHint("use auto, cpu, cuda or cuda:N"));
    if (why.empty()) {
        const auto loaded = loadCudaPlugin();
        if (loaded)
            return wanted;
        why = loaded.error().message;
    }
    if (asked != "auto")
        return fail(makeError(ErrorCode::Device, why).withHint("use --device cpu"));
    report.deviceNote = why + ": checking the CPU only";
    return std::string("cpu");
}

} // namespace

Result<DoctorReport> runDoctor(const std::string& device)
{
    return guardTorchValue<DoctorReport>([&]() -> Result<DoctorReport> {
        DoctorReport report;
        report.torchVersion = QUANTSCOPE_TORCH_VERSION;
        report.cpu = at::get_cpu_capability();
        report.threads = at::get_num_threads();
        report.cuda = cudaFacts();
        QS_TRY(report.device, checkedDevice(device, report));
        report.quantizedEngine = engineName();
        report.checks = runSelfChecks(report.device);
        return report;
    });
}

} // namespace qs
