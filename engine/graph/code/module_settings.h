// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <string>

namespace qs {

/// The text of a torch.nn module between its parentheses: "3, 8, kernel_size=(3, 3), stride=(1,
/// 1)". `node`: the operator of `graph` that is the module's forward. `suffix`: the settings that a
/// quantized module adds. `folded`: a batch norm was folded in, so the module has a bias.
std::string moduleSettings(const Graph& graph, const Node& node, const std::string& suffix,
                           bool folded);

/// An argument without references to values, as Python: "(3, 3)" for a list, "True", "1e-05".
std::string settingText(const Argument& argument);

/// Classify a class by its last part: "Conv2d", "SparseConv2d"; "LSTM", "GRUCell".
bool isConvolutionClass(const std::string& name);
bool isRecurrentClass(const std::string& name);

} // namespace qs
