// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace qs {

/// Returns how Python text calls the operator `word` ("permute", "add_"), as a .pt2 records it in
/// `torch_fn`: "builtin_function_or_method.permute" for `torch.permute(x)`,
/// "method_descriptor.permute" for `x.permute()` and Python's operators (`x @ y` calls "matmul"),
/// "wrapper_descriptor.__getitem__" for `x[0]`; "" if the text does not contain it. `text` is the
/// whole function; the expression extends from `start` to about `end`, by TorchScript's source
/// range: up to the called name, or from an operator's first operand, both without surrounding
/// parentheses. For a branch decided by the model's settings, the range is the whole branch.
std::string calledInText(std::string_view text, std::size_t start, std::size_t end,
                         const std::string& word);

} // namespace qs
