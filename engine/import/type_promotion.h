// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/dtype.h"

namespace qs {

/// PyTorch's order of kinds of element types: bool 0, integer 1, real 2, complex 3.
int typeKind(DType dtype);
/// torch.promote_types: the type that holds the values of both.
DType promotedTypes(DType a, DType b);

} // namespace qs
