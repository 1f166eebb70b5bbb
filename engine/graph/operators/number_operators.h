// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace qs {

/// Arithmetic on sizes and other numbers has two forms: Python functions, used in .pt2 files
/// ("_operator.add", "math.ceil", "torch.sym_max"), and TorchScript's operators ("aten::add").

/// Returns the function's name, "add" for "_operator.add"; empty if it is not a function on
/// numbers.
std::string_view numberWord(std::string_view target);

/// TorchScript's equivalent operator, without overload: "aten::add" for "_operator.add"; empty if
/// TorchScript has no such operator.
std::string_view scriptNumberOperator(std::string_view target);

/// Python's function for an operator on tensors of one number each: "_operator.add" for
/// "aten::add"; empty if Python has no such function.
std::string numberTargetOfTensors(std::string_view name);

/// Python's equivalent of a TorchScript overload: "_operator.add" for "aten.add.int"; empty if
/// Python has no such function.
std::string numberTarget(std::string_view scriptTarget);

} // namespace qs
