// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/runtimes.h"

#include "engine/import/archive/export_record.h"

#include <algorithm>
#include <array>
#include <sstream>

namespace qs {

namespace {

constexpr std::string_view kTorch = "numpy torch";
constexpr std::string_view kOnnx = "numpy onnx onnxruntime";
constexpr auto kSetupFolder = "~/.local/share/quantscope/python";

} // namespace

std::span<const Runtime> runtimes()
{
    static constexpr std::array<Runtime, 8> kRuntimes {{
        {"torch.jit", "torchscript", kTorch, true, true},
        {"torch.export", "pt2-reference", kTorch, true},
        {"torch.export", "pt2", kTorch, true},
        {"torch.compile", "pt2", kTorch, false, true},
        {"torch.compile", "pt2-reference", kTorch, false},
        {"executorch", "pt2", "numpy torch executorch", false, true},
        {"onnxruntime", "onnx", kOnnx, true},
        {"onnxruntime-optimized", "onnx", kOnnx, false, true},
    }};
    return kRuntimes;
}

bool isRuntime(std::string_view name)
{
    const auto all = runtimes();
    return std::any_of(all.begin(), all.end(),
                       [&](const Runtime& runtime) { return runtime.name == name; });
}

std::string pipWords(std::string_view packages)
{
    std::istringstream words {std::string(packages)};
    std::string out;
    for (std::string word; words >> word;)
        out += (out.empty() ? "" : " ") + word
            + (word == "torch" ? "==" + ownTorchVersion() : std::string());
    return out;
}

std::string pythonSetup()
{
    const std::string folder = kSetupFolder;
    return "python3 -m venv " + folder + " && " + folder + "/bin/pip install "
        + pipWords("numpy torch onnx onnxruntime");
}

std::string setupPython()
{
    return std::string(kSetupFolder) + "/bin/python";
}

} // namespace qs
