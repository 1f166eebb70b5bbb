// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace qs {

/// The kind of call of the operator `word` in Python text ("permute", "add_"), as a .pt2 records it
/// in `torch_fn`: "builtin_function_or_method.permute" for `torch.permute(x)`,
/// "method_descriptor.permute" for `x.permute()` and Python's operators (`x @ y` calls "matmul"),
/// "wrapper_descriptor.__getitem__" for `x[0]`; "" if the text does not show it. `text` is that of
/// the whole function; the expression lies from `start` to about `end`, as TorchScript counts: up
/// to the name that is called, from an operator's first operand on, each without parentheses around
/// it, or in a branch that the model's settings decide the whole branch.
std::string calledInText(std::string_view text, std::size_t start, std::size_t end,
                         const std::string& word);

} // namespace qs
