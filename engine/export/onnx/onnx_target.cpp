// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/onnx_target.h"

#include <array>
#include <utility>

namespace qs {

namespace {

constexpr std::array<std::pair<OnnxTarget, std::string_view>, 3> kTargets {
    {{OnnxTarget::Generic, "generic"},
     {OnnxTarget::OrtCpu, "ort-cpu"},
     {OnnxTarget::TensorRt, "tensorrt"}}};

} // namespace

std::optional<OnnxTarget> onnxTargetFromName(std::string_view name)
{
    for (const auto& [target, known] : kTargets)
        if (known == name)
            return target;
    return std::nullopt;
}

std::string_view onnxTargetName(OnnxTarget target)
{
    for (const auto& [known, name] : kTargets)
        if (known == target)
            return name;
    return {};
}

std::vector<std::string> onnxTargetNames()
{
    std::vector<std::string> names;
    for (const auto& [target, name] : kTargets)
        names.emplace_back(name);
    return names;
}

} // namespace qs
