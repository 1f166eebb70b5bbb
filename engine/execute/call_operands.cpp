// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/call_operands.h"

#include "engine/base/torch_guard.h"
#include "engine/execute/torch_types.h"

#include <ATen/core/function_schema.h>
#include <ATen/ops/aminmax.h>

#include <algorithm>

namespace qs {

namespace {

constexpr std::size_t kMostTold = 5;
constexpr std::int64_t kMostLookedAt = std::int64_t(1) << 20;

std::string tensorText(const at::Tensor& tensor)
{
    std::string text(dtypeName(fromScalarType(tensor.scalar_type())));
    text += " [";
    for (std::int64_t i = 0; i < tensor.dim(); ++i)
        text += (i ? ", " : "") + std::to_string(tensor.size(i));
    text += "]";
    if (!at::isIntegralType(tensor.scalar_type(), false) || !tensor.is_cpu() || tensor.numel() == 0
        || tensor.numel() > kMostLookedAt)
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
    // A message about a failure does not fail.
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

} // namespace qs
