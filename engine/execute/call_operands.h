// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace c10 {
struct FunctionSchema;
}

namespace qs {

/// The tensors among an operator's arguments, for a message: "self float32 [4, 4], index int64 [2]
/// from 0 to 9". Of integers, which may be indices, the range is told. "" without a tensor.
std::string operandsText(const c10::FunctionSchema& schema, const std::vector<at::IValue>& stack);

} // namespace qs
