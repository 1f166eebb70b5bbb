// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/runtimes.h"

#include "engine/import/archive/export_record.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>

namespace qs {

namespace {

constexpr std::string_view kTorch = "numpy torch";
constexpr std::string_view kOnnx = "numpy onnx onnxruntime";
constexpr std::string_view kCompiler = "g++ python3-dev";
constexpr auto kSetupFolder = "~/.local/share/quantscope/python";

std::vector<std::string> wordsOf(std::string_view text)
{
    std::istringstream stream {std::string(text)};
    return {std::istream_iterator<std::string>(stream), {}};
}

void addOnce(std::string word, std::vector<std::string>& words)
{
    if (std::find(words.begin(), words.end(), word) == words.end())
        words.push_back(std::move(word));
}

} // namespace

std::span<const Runtime> runtimes()
{
    static constexpr std::array<Runtime, 8> kRuntimes {{
        {"torch.jit", "torchscript", kTorch, true, true},
        {"torch.export", "pt2-reference", kTorch, true},
        {"torch.export", "pt2", kTorch, true},
        {"torch.compile", "pt2", kTorch, false, true, true, kCompiler},
        {"torch.compile", "pt2-reference", kTorch, false, false, true, kCompiler},
        {"executorch", "pt2", "numpy torch executorch", false, true, false},
        {"onnxruntime", "onnx", kOnnx, true},
        {"onnxruntime-optimized", "onnx", kOnnx, false, true},
    }};
    return kRuntimes;
}

std::vector<std::string> runtimeNames()
{
    std::vector<std::string> names;
    for (const Runtime& runtime : runtimes())
        addOnce(std::string(runtime.name), names);
    return names;
}

bool isRuntime(std::string_view name)
{
    const auto all = runtimes();
    return std::any_of(all.begin(), all.end(),
                       [&](const Runtime& runtime) { return runtime.name == name; });
}

std::string pipWords(std::string_view packages)
{
    std::string out;
    for (const std::string& word : wordsOf(packages))
        out += (out.empty() ? "" : " ") + word
            + (word == "torch" ? "==" + ownTorchVersion() : std::string());
    return out;
}

std::string pythonSetup(bool needsVenv)
{
    std::vector<std::string> packages;
    for (const Runtime& runtime : runtimes())
        for (std::string& word : wordsOf(runtime.isInSetup ? runtime.packages : ""))
            addOnce(std::move(word), packages);
    std::string names;
    for (const std::string& name : packages)
        names += (names.empty() ? "" : " ") + name;
    const std::string folder = kSetupFolder;
    return std::string(needsVenv ? "sudo apt-get install -y python3-venv && " : "")
        + "python3 -m venv " + folder + " && " + folder + "/bin/pip install " + pipWords(names);
}

std::string setupAdvice(bool needsVenv)
{
    return "make a Python for it with '" + pythonSetup(needsVenv)
        + "', then give 'verify' --python " + kSetupFolder + "/bin/python once: it is remembered";
}

} // namespace qs
