// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace qs {

/// The operator kinds a user's name stands for: {"conv2d", "relu"} for
/// "torch.ao.nn.intrinsic.ConvReLU2d" and for "nni.ConvReLU2d". Names may be modules, reference and
/// quantized modules, fused modules, functions, methods or ATen operators.
std::vector<std::string> operatorKindsOfName(const std::string& name);

} // namespace qs
