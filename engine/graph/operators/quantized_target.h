// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/operators/operators.h"

namespace qs {

/// An operator of torch.ao's converted forms: of the reference form (`quantized_decomposed`), or a
/// kernel on integers, LibTorch's or an extension pack's.
inline bool isQuantizedTarget(std::string_view target)
{
    return target.starts_with("quantized_decomposed.") || isKernelTarget(target);
}

} // namespace qs
