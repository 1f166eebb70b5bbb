// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/device_plugin.h"

#include <ATen/Context.h>

#include <array>
#include <dlfcn.h>
#include <filesystem>

namespace qs {

namespace {

constexpr const char* kPluginName = "libquantscope_cuda.so";

// The driver's entry points for queries, loaded dynamically because its header is not always
// installed.
struct Driver
{
    int (*init)(unsigned) = nullptr;
    int (*version)(int*) = nullptr;
    int (*count)(int*) = nullptr;
    int (*name)(char*, int, int) = nullptr;
    bool complete() const { return init && version && count && name; }
};

template<class Function>
void load(void* library, const char* name, Function& into)
{
    into = reinterpret_cast<Function>(dlsym(library, name));
}

std::string pluginPath()
{
    Dl_info info {};
    // Find the library's path by the address of one of its functions.
    if (dladdr(reinterpret_cast<void*>(&cudaFacts), &info) == 0 || !info.dli_fname)
        return kPluginName;
    std::error_code error;
    const auto self = std::filesystem::canonical(info.dli_fname, error);
    return error ? std::string(kPluginName) : (self.parent_path() / kPluginName).string();
}

void askDriver(CudaFacts& facts)
{
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        facts.why = "no CUDA driver";
        return;
    }
    Driver driver;
    load(library, "cuInit", driver.init);
    load(library, "cuDriverGetVersion", driver.version);
    load(library, "cuDeviceGetCount", driver.count);
    load(library, "cuDeviceGetName", driver.name);
    if (!driver.complete() || driver.init(0) != 0) {
        facts.why = "the CUDA driver does not start";
        return;
    }
    facts.driver = true;
    int version = 0, count = 0;
    driver.version(&version);
    facts.driverVersion
        = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
    driver.count(&count);
    for (int i = 0; i < count; ++i) {
        std::array<char, 256> text {};
        driver.name(text.data(), int(text.size()) - 1, i);
        facts.devices.emplace_back(text.data());
    }
    if (facts.devices.empty())
        facts.why = "no CUDA device";
}

// Process-wide and permanent, so that every stage computes the same floats.
void computeReproducibly()
{
    at::Context& context = at::globalContext();
    context.setAllowTF32CuBLAS(false);
    context.setAllowTF32CuDNN(false);
    context.setDeterministicCuDNN(true);
    context.setBenchmarkCuDNN(false);
}

} // namespace

CudaFacts cudaFacts()
{
    CudaFacts facts;
    askDriver(facts);
    facts.pluginPath = pluginPath();
    std::error_code error;
    facts.pluginFound = std::filesystem::exists(facts.pluginPath, error);
    if (facts.why.empty() && !facts.pluginFound)
        facts.why = "this build has no CUDA plug-in";
    return facts;
}

Result<void> loadCudaPlugin()
{
    const CudaFacts facts = cudaFacts();
    if (!facts.why.empty())
        return fail(ErrorCode::Device, facts.why);
    if (!dlopen(facts.pluginPath.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
        const char* text = dlerror();
        return fail(ErrorCode::Device,
                    "the CUDA plug-in does not load: " + std::string(text ? text : "unknown"));
    }
    if (!at::globalContext().hasCUDA())
        return fail(ErrorCode::Device, "LibTorch finds no CUDA device");
    computeReproducibly();
    return {};
}

} // namespace qs
