// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>

namespace qs {

/// The text of a torch.nn module between its parentheses: "3, 8, kernel_size=(3, 3), stride=(1,
/// 1)". `node`: the operator that is its forward, of `graph`. `suffix`: what a quantized module
/// adds. `folded`: a batch norm in it gives it a bias.
std::string moduleSettings(const Graph& graph, const Node& node, const std::string& suffix,
                           bool folded);

/// An argument without references to values, as Python: "(3, 3)" for a list, "True", "1e-05".
std::string settingText(const Argument& argument);

/// By a class's last part: "Conv2d", "SparseConv2d"; "LSTM", "GRUCell".
bool isConvolutionClass(const std::string& name);
bool isRecurrentClass(const std::string& name);

} // namespace qs
