// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace qs {

/// An operator of torch.ao's converted forms: of the reference form (`quantized_decomposed`), or a
/// kernel on integers (`quantized`).
inline bool isQuantizedTarget(std::string_view target)
{
    return target.starts_with("quantized_decomposed.") || target.starts_with("quantized.");
}

} // namespace qs
