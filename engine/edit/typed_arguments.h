// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/edit_step.h"
#include "engine/graph/node.h"

#include <functional>
#include <optional>

namespace qs {

/// Resolves an address to its value.
using FindValue = std::function<Result<ValueRef>(const ValueAddress&)>;

/// Returns the arguments of a call of `target`, in schema order: those of `json` (an object by
/// argument name), then those of `kept` whose names the operator has, then `subject` as the first
/// missing operand (unless `json` contains "this"). Literals are typed by the schema; a value is
/// written {"value": ADDRESS}. Fails on an unknown operator or argument (with the nearest name), a
/// literal of a wrong type (with the accepted type), a missing argument, and an operator that
/// writes to its operands or accesses anything outside the model.
Result<std::vector<NamedArgument>> typedArguments(const std::string& target,
                                                  const std::string& json,
                                                  const std::vector<NamedArgument>& kept,
                                                  std::optional<ValueRef> subject,
                                                  const FindValue& find);

} // namespace qs
