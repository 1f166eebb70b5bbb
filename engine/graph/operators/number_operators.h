// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace qs {

/// Arithmetic on sizes and other numbers has two spellings: Python's functions, as a .pt2 calls
/// them ("_operator.add", "math.ceil", "torch.sym_max"), and TorchScript's operators ("aten::add").

/// The function's own word, "add" of "_operator.add"; empty if not a function on numbers.
std::string_view numberWord(std::string_view target);

/// TorchScript's operator that computes the same, overload not chosen: "aten::add" for
/// "_operator.add"; empty if TorchScript has no such operator.
std::string_view scriptNumberOperator(std::string_view target);

/// Python's function for an operator on tensors of one number each: "_operator.add" for
/// "aten::add"; empty if Python has no such function.
std::string numberTargetOfTensors(std::string_view name);

/// Python's function for an overload of TorchScript's that computes the same: "_operator.add" for
/// "aten.add.int"; empty if Python has no such function.
std::string numberTarget(std::string_view scriptTarget);

} // namespace qs
