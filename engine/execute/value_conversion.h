// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/attribute.h"
#include "engine/graph/node.h"
#include "engine/graph/value.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <string_view>
#include <vector>

namespace qs {

/// Reads the run-time value of a reference.
using ReadValue = std::function<Result<at::IValue>(ValueRef)>;

/// An argument converted to the schema's slot: integers become floats or scalars or number tensors,
/// one number fills an `int[2]`, lists get the schema's element type. A device other than "meta"
/// becomes `device`. May throw c10::Error (call under guardTorch).
Result<at::IValue> convertArgument(const Argument& argument, const c10::Argument& slot,
                                   const at::Device& device, const ReadValue& read);

/// An argument without a schema: numbers are unchanged, lists have the type of their elements.
Result<at::IValue> convertUntyped(const Argument& argument, const at::Device& device,
                                  const ReadValue& read);

/// Appends the values of an argument; nested lists are flattened.
Result<void> convertFlat(const Argument& argument, const at::Device& device, const ReadValue& read,
                         std::vector<at::IValue>& out);

/// Converts a constant to an argument (the inverse of `convertArgument`). `type` decides whether a
/// number is an element type, a layout or a memory format. None if an argument cannot hold it.
Argument constantArgument(const at::IValue& value, const c10::TypePtr& type = c10::AnyType::get());

/// Sets `out` to the argument `name` of an operator, or to its default in the schema if it is
/// absent. Returns false if the operator has no such argument.
bool effectiveArgument(const Node& node, std::string_view name, Argument& out);

/// The numbers of a tensor, in C order.
std::vector<float> floatsOf(const at::Tensor& tensor);

/// The type of this tensor as a value, with fixed sizes.
ValueType typeOfTensor(const at::Tensor& tensor);

} // namespace qs
