// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/dtype.h"

#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/ScalarType.h>

#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// Unknown maps to Undefined and back.
at::ScalarType toScalarType(DType dtype);
DType fromScalarType(at::ScalarType type);
at::Device toTorchDevice(const Device& device);

/// Layouts and memory formats by their names in graphs ("strided", "channels_last"); empty or ""
/// for others. TorchScript writes their numbers.
std::optional<at::Layout> toLayout(std::string_view name);
std::optional<at::MemoryFormat> toMemoryFormat(std::string_view name);
std::string layoutName(at::Layout layout);
std::string memoryFormatName(at::MemoryFormat format);

} // namespace qs
