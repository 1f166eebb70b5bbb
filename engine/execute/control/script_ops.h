// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <memory>
#include <string_view>

namespace qs {

/// An operator that LibTorch has for TorchScript alone, outside the dispatcher: arithmetic on
/// numbers, strings, lists and dicts ("aten.len.t", "aten.append.t").
struct ScriptOperator
{
    const c10::FunctionSchema* schema = nullptr;
    torch::jit::Operation run;
};

/// Finds one by its target; null if it is unknown, if the dispatcher has it, and for operators that
/// `isForbiddenOperator`. The result lives as long as the program. Any thread.
const ScriptOperator* findScriptOperator(std::string_view target);

/// Runs it. An argument that it changes (a list or dict) is copied first; the changed copies follow
/// the results on the stack, in order. May throw what LibTorch throws.
void runScriptOperator(const ScriptOperator& op, torch::jit::Stack& stack);

} // namespace qs
