// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace qs {

/// Returns the operator kinds that a user's name stands for: {"conv2d", "relu"} for
/// "torch.ao.nn.intrinsic.ConvReLU2d" and for "nni.ConvReLU2d"; {"mypack.linear"} for
/// "mypack::linear" and "torch.ops.mypack.linear". Names may be modules, reference and quantized
/// modules, fused modules, functions, methods or ATen operators. A class or function of another
/// package yields only itself ({"my.Linear"}), which matches no operator.
std::vector<std::string> operatorKindsOfName(const std::string& name);

/// Returns the operator kinds of all names of a pattern.
std::vector<std::string> operatorKindsOf(const std::vector<std::string>& pattern);

/// Returns the full public PyTorch name: "torch.nn.Linear" for "torch.nn.modules.linear.Linear",
/// "torch.ao.nn.intrinsic.ConvReLU2d" for "nni.ConvReLU2d".
std::string fullTorchName(const std::string& name);

} // namespace qs
