// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <ATen/core/ivalue.h>

#include <string>
#include <string_view>
#include <vector>

namespace c10 {
struct FunctionSchema;
}

namespace qs {

/// The tensors among an operator's arguments, for a message: "self float32 [4, 4], index int64 [2]
/// from 0 to 9". Integers, which may be indices, have their range. "" without a tensor.
std::string operandsText(const c10::FunctionSchema& schema, const std::vector<at::IValue>& stack);

/// Fails where the kernel would read or write outside of an operand instead of failing: states of
/// `aten.lstm.input` of another batch or width than its input and weights (torch.nn.LSTM checks
/// that in check_forward_args, the operator does not). `stack`: all arguments of the schema. May
/// throw c10::Error (call under guardTorch).
Result<void> checkOperands(std::string_view target, const std::vector<at::IValue>& stack);

} // namespace qs
