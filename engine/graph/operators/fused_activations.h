// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace qs {

/// The torch.nn class as which torch.ao fuses an activation into the layer before it, "ReLU" for
/// "relu"; empty for a word that is none of these.
inline std::string_view fusedActivationClass(std::string_view word)
{
    return word == "relu"      ? "ReLU"
        : word == "leaky_relu" ? "LeakyReLU"
        : word == "tanh"       ? "Tanh"
                               : "";
}

} // namespace qs
