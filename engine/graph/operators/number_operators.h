// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace qs {

/// Arithmetic on sizes and other numbers has two spellings: Python's functions, as a .pt2 calls
/// them ("_operator.add", "math.ceil", "torch.sym_max"), and TorchScript's operators ("aten::add").

/// The function's own word, "add" of "_operator.add"; empty for what is no function on numbers.
std::string_view numberWord(std::string_view target);

/// TorchScript's operator that computes the same, by what it is given: "aten::add" for
/// "_operator.add"; empty where there is none.
std::string_view scriptNumberOperator(std::string_view target);

/// Python's function for an operator on tensors of one number each: "_operator.add" for
/// "aten::add"; empty where there is none.
std::string numberTargetOfTensors(std::string_view name);

/// Python's function for an overload of TorchScript's that computes the same: "_operator.add" for
/// "aten.add.int"; empty where there is none.
std::string numberTarget(std::string_view scriptTarget);

} // namespace qs
