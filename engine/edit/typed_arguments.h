// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/edit_step.h"
#include "engine/graph/node.h"

#include <functional>
#include <optional>

namespace qs {

/// Finds the value of an address.
using FindValue = std::function<Result<ValueRef>(const ValueAddress&)>;

/// The arguments of a call of `target`, in schema order: those of `json` (an object by argument
/// name), then those of `kept` that the operator takes by name, then `subject` as the first operand
/// that is missing (unless `json` contains "this"). Literals are typed by the schema; a value is
/// written {"value": ADDRESS}. Errors: an unknown operator or argument with the nearest name, a
/// literal of another type with the accepted type, a missing argument, an operator that writes to
/// its operands or reaches outside the model.
Result<std::vector<NamedArgument>> typedArguments(const std::string& target,
                                                  const std::string& json,
                                                  const std::vector<NamedArgument>& kept,
                                                  std::optional<ValueRef> subject,
                                                  const FindValue& find);

} // namespace qs
