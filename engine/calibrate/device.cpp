// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/calibrator.h"
#include "engine/execute/op_table.h"
#include "engine/extensions/load_pack.h"
#include "engine/kernels/device_plugin.h"
#include "engine/kernels/self_check.h"

#include <charconv>

namespace qs {

namespace {

// Returns the index of "cuda" or "cuda:N"; nullopt for other words.
std::optional<int> cudaIndex(const std::string& text, int preferred)
{
    if (text == "cuda")
        return preferred;
    if (text.rfind("cuda:", 0) != 0)
        return std::nullopt;
    int index = -1;
    const char* end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data() + 5, end, index);
    if (error != std::errc() || next != end || index < 0)
        return std::nullopt;
    return index;
}

// Returns the first kernel that fails its self-check on the device, or "".
std::string brokenKernel(const std::string& device)
{
    for (const auto& check : runSelfChecks(device))
        if (!check.passed())
            return check.name + " (" + check.detail + ")";
    return {};
}

Result<DeviceChoice> tryCuda(int index)
{
    const CudaFacts facts = cudaFacts();
    if (!facts.why.empty())
        return fail(ErrorCode::Device, facts.why);
    if (index >= int(facts.devices.size()))
        return fail(ErrorCode::Device,
                    "no device cuda:" + std::to_string(index) + "; there are "
                        + std::to_string(facts.devices.size()));
    QS_CHECK(loadCudaPlugin());
    QS_CHECK(loadCudaLibraries());
    const std::string device = "cuda:" + std::to_string(index);
    const std::string broken = brokenKernel(device);
    if (!broken.empty())
        return fail(ErrorCode::Device, "the self-check of " + device + " fails: " + broken);
    return DeviceChoice {device,
                         "using " + device + " (" + facts.devices[std::size_t(index)] + ")"};
}

} // namespace

Result<DeviceChoice> chooseDevice(const std::string& requested, const Graph& model, int preferred)
{
    if (requested == "cpu")
        return DeviceChoice {"cpu", ""};
    if (requested == "auto") {
        auto choice = tryCuda(preferred);
        if (!choice)
            return DeviceChoice {"cpu", choice.error().message + ": using the CPU"};
        const std::string lacking = operatorWithoutKernel(model, c10::DispatchKey::CUDA);
        if (!lacking.empty())
            return DeviceChoice {"cpu", lacking + " has no kernel for CUDA: using the CPU"};
        return choice;
    }
    const auto index = cudaIndex(requested, preferred);
    if (!index)
        return fail(makeError(ErrorCode::Usage, "'" + requested + "' is not a device")
                        .withHint("use auto, cpu, cuda or cuda:N"));
    auto choice = tryCuda(*index);
    if (!choice)
        return fail(std::move(choice).error().withHint("use --device cpu"));
    return choice;
}

} // namespace qs
