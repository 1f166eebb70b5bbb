// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/runtimes.h"

#include <algorithm>
#include <array>

namespace qs {

std::span<const Runtime> runtimes()
{
    static constexpr std::array<Runtime, 8> kRuntimes {{
        {"torch.jit", "torchscript", true, true},
        {"torch.export", "pt2-reference", true},
        {"torch.export", "pt2", true},
        {"torch.compile", "pt2", false, true},
        {"torch.compile", "pt2-reference", false},
        {"executorch", "pt2", false, true},
        {"onnxruntime", "onnx", true},
        {"onnxruntime-optimized", "onnx", false, true},
    }};
    return kRuntimes;
}

bool isRuntime(std::string_view name)
{
    const auto all = runtimes();
    return std::any_of(all.begin(), all.end(),
                       [&](const Runtime& runtime) { return runtime.name == name; });
}

} // namespace qs
