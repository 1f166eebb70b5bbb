// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/backend/lowering_table.h"

namespace qs {

/// The operator's target. Fails for PyTorch's operators, which a pack may not describe.
Result<std::string> readPackTarget(const JsonPlace& place, const std::string& name);

/// The owner of the arguments: a row of the lowering table, whose sources are operators' arguments,
/// or a custom module, whose sources are its parameters.
enum class ArgumentsOf : std::uint8_t
{
    Row,
    Module
};

/// The source of each argument of a kernel.
Result<std::vector<KernelArgument>> readArguments(const JsonPlace& place, ArgumentsOf owner);

} // namespace qs
