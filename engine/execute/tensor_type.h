// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/value.h"

#include <ATen/core/TensorBody.h>

namespace qs {

/// The type of a value that is this tensor, all its sizes fixed.
ValueType typeOfTensor(const at::Tensor& tensor);

} // namespace qs
