// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/calls/call_operands.h"

#include "engine/base/torch_guard.h"
#include "engine/execute/torch_types.h"
#include "engine/graph/operators/common_targets.h"

#include <ATen/core/function_schema.h>
#include <ATen/ops/aminmax.h>

#include <algorithm>

namespace qs {

namespace {

constexpr std::size_t kMostTold = 5;
constexpr std::int64_t kMostChecked = std::int64_t(1) << 20;

std::string tensorText(const at::Tensor& tensor)
{
    std::string text(dtypeName(fromScalarType(tensor.scalar_type())));
    text += " [";
    for (std::int64_t i = 0; i < tensor.dim(); ++i)
        text += (i ? ", " : "") + std::to_string(tensor.size(i));
    text += "]";
    if (!at::isIntegralType(tensor.scalar_type(), false) || !tensor.is_cpu() || tensor.numel() == 0
        || tensor.numel() > kMostChecked)
        return text;
    const auto [least, greatest] = at::aminmax(tensor);
    return text + " from " + std::to_string(least.item<std::int64_t>()) + " to "
        + std::to_string(greatest.item<std::int64_t>());
}

} // namespace

std::string operandsText(const c10::FunctionSchema& schema, const std::vector<at::IValue>& stack)
{
    std::string text;
    std::size_t told = 0;
    const auto tell = [&](const std::string& name, const at::Tensor& tensor) {
        if (!tensor.defined() || tensor.is_meta() || ++told > kMostTold)
            return;
        text += (text.empty() ? "" : ", ") + name + ' ' + tensorText(tensor);
    };
    // Errors are ignored: the text is only part of a message.
    (void)guardTorch([&]() -> Result<void> {
        for (std::size_t i = 0; i < std::min(stack.size(), schema.arguments().size()); ++i) {
            const std::string& name = schema.arguments()[i].name();
            if (stack[i].isTensor())
                tell(name, stack[i].toTensor());
            else if (stack[i].isTensorList())
                for (const at::IValue& item : stack[i].toListRef())
                    tell(name, item.toTensor());
        }
        return {};
    });
    return text;
}

Result<void> checkOperands(std::string_view target, const std::vector<at::IValue>& stack)
{
    if (target != kLstmTarget)
        return {};
    constexpr std::size_t kInput = 0, kStates = 1, kWeights = 2, kBatchFirst = 8;
    const at::Tensor input = stack.at(kInput).toTensor();
    const auto states = stack.at(kStates).toTensorVector();
    const auto weights = stack.at(kWeights).toTensorVector();
    if (input.dim() != 3 || states.size() != 2 || weights.size() < 2 || weights[1].dim() != 2)
        return {}; // the operator reports it itself
    const std::int64_t batch = input.size(stack.at(kBatchFirst).toBool() ? 0 : 1);
    const std::int64_t widths[] = {weights[1].size(1), weights[1].size(0) / 4};
    for (std::size_t i = 0; i < states.size(); ++i)
        if (states[i].dim() != 3 || states[i].size(1) != batch || states[i].size(2) != widths[i])
            return fail(ErrorCode::BadInput,
                        "hx[" + std::to_string(i) + "] is not of batch " + std::to_string(batch)
                            + " and width " + std::to_string(widths[i]));
    return {};
}

} // namespace qs
