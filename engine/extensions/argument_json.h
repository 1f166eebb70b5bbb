// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/backend/lowering_table.h"

namespace qs {

/// Returns the operator's target. Fails for PyTorch's operators, which a pack must not describe.
Result<std::string> readPackTarget(const JsonPlace& place, const std::string& name);

/// Owner of the arguments: a row of the lowering table (sources are operators' arguments), or a
/// custom module (sources are its parameters).
enum class ArgumentsOf : std::uint8_t
{
    Row,
    Module
};

/// Reads the source of each argument of a kernel.
Result<std::vector<KernelArgument>> readArguments(const JsonPlace& place, ArgumentsOf owner);

} // namespace qs
