// SPDX-License-Identifier: Apache-2.0
#include "app/commands/text/onnx_plan_text.h"

#include "app/commands/text/console.h"
#include "engine/base/text.h"

namespace qs {

namespace {

std::string inputsText(const OnnxPlanRow& row)
{
    std::string text;
    for (const std::int64_t input : row.quantizedInputs)
        text += (text.empty() ? "" : ", ") + std::to_string(input);
    return text.empty() ? "-" : text;
}

std::string orDash(const std::string& text)
{
    return text.empty() ? "-" : text;
}

} // namespace

std::string onnxPlanText(const OnnxPlan& plan)
{
    TextTable table(
        {"node", "ONNX", "module", "quantized inputs", "bias", "kernel", "why there is none"});
    for (const OnnxPlanRow& row : plan.rows)
        table.add({orDash(row.node), row.onnx, row.module, inputsText(row), orDash(row.bias),
                   orDash(row.kernel), row.reason});
    std::string text = "target: " + std::string(onnxTargetName(plan.target)) + ", operator set "
        + std::to_string(plan.opset) + "\n";
    if (!plan.calibrated)
        text += "not calibrated: a relu or clip is taken for one that the range after it makes "
                "needless; with --result the ranges of a result decide\n";
    text += "\n" + table.text() + "\n";
    std::int64_t expected = 0;
    std::string kernels;
    for (const auto& [kernel, count] : plan.kernels()) {
        expected += count;
        kernels += (kernels.empty() ? ": " : ", ") + std::to_string(count) + " " + kernel;
    }
    return text + counted(expected, "integer kernel") + " expected, of "
        + counted(std::int64_t(plan.rows.size()), "operator") + kernels + "\n";
}

} // namespace qs
