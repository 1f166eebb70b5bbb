// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <ATen/core/function_schema.h>

#include <string>
#include <string_view>

namespace qs {

/// "aten.add.Tensor" for aten::add.Tensor, "aten.relu.default" without overload.
std::string targetOf(const c10::OperatorName& name);

/// What users call a function of torch.nn.functional: max_pool2d calls `_max_pool2d` inside.
std::string functionalWord(std::string_view name);

/// Brings a node to the spelling a .pt2 has, where it computes the same: `_convolution` becomes
/// `conv2d` and so on. `originalTarget` keeps the file's.
void respellNode(Node& node);

/// True for operators on numbers, strings and lists of them that may be computed while reading:
/// they have no side effect and their result is not much larger than their arguments. `kind` is
/// "aten::add".
bool isFoldable(std::string_view kind);

/// Leaves out what equals the operator's defaults, from the end.
void dropDefaults(std::vector<NamedArgument>& args, const c10::FunctionSchema& schema);

} // namespace qs
