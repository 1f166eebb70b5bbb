// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace qs {

/// The torch.nn class of an activation that torch.ao fuses into the layer before it: "ReLU" for
/// "relu". Empty for any other word.
inline std::string_view fusedActivationClass(std::string_view word)
{
    return word == "relu"      ? "ReLU"
        : word == "leaky_relu" ? "LeakyReLU"
        : word == "tanh"       ? "Tanh"
                               : "";
}

} // namespace qs
