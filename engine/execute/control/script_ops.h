// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <memory>
#include <string_view>

namespace qs {

/// An operator that LibTorch has only for TorchScript, not in the dispatcher: arithmetic on
/// numbers, strings, lists and dicts ("aten.len.t", "aten.append.t").
struct ScriptOperator
{
    const c10::FunctionSchema* schema = nullptr;
    torch::jit::Operation run;
};

/// Finds such an operator by target; null if it is unknown, in the dispatcher, or forbidden
/// (`isForbiddenOperator`). The result lives as long as the program. Any thread.
const ScriptOperator* findScriptOperator(std::string_view target);

/// Runs the operator. Copies each argument that it changes (a list or dict) first; the changed
/// copies follow the results on the stack, in order. May throw LibTorch's exceptions.
void runScriptOperator(const ScriptOperator& op, torch::jit::Stack& stack);

} // namespace qs
