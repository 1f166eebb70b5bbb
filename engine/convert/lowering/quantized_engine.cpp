// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/lowering/quantized_engine.h"

#include <ATen/Context.h>

#include <algorithm>
#include <cctype>

namespace qs {

bool selectEngine(const std::string& backend)
{
    at::QEngine wanted = at::QEngine::X86;
    if (backend == "fbgemm")
        wanted = at::QEngine::FBGEMM;
    else if (backend == "qnnpack")
        wanted = at::QEngine::QNNPACK;
    else if (backend == "onednn")
        wanted = at::QEngine::ONEDNN;
    const auto& there = at::globalContext().supportedQEngines();
    if (std::find(there.begin(), there.end(), wanted) != there.end())
        at::globalContext().setQEngine(wanted);
    const at::QEngine chosen = at::globalContext().qEngine();
    return chosen == at::QEngine::X86 || chosen == at::QEngine::FBGEMM;
}

std::string currentEngine()
{
    std::string name = c10::toString(at::globalContext().qEngine());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    return name;
}

std::string backendNeededBy(const Graph& converted)
{
    const auto nodes = converted.nodes();
    const bool oneDnn = std::any_of(nodes.begin(), nodes.end(), [](const NodePtr& node) {
        return node->isOp("quantized.linear_leaky_relu.default")
            || node->isOp("quantized.linear_tanh.default");
    });
    return oneDnn ? "onednn" : "";
}

} // namespace qs
