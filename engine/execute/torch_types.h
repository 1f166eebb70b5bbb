// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/dtype.h"

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

namespace qs {

/// Unknown maps to Undefined and back.
at::ScalarType toScalarType(DType dtype);
DType fromScalarType(at::ScalarType type);
at::Device toTorchDevice(const Device& device);

} // namespace qs
