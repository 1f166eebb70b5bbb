// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/calibrate/data/stored_tensor.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Returns the first dimension of an input if the graph fixes it.
std::optional<std::int64_t> fixedBatch(const Node& input);

/// Returns an element as text: "0.5", "true".
std::string elementText(const at::Tensor& tensor, std::int64_t flat);

/// Type and shape of a tensor, from its header.
struct DataForm
{
    DType dtype = DType::Unknown;
    std::vector<std::int64_t> sizes;
};

DataForm formOf(const StoredTensor& stored);

/// Returns a tensor of this shape without elements, for checks of shapes.
at::IValue outline(const std::vector<std::int64_t>& sizes);

/// Returns the inputs' names in quotes, for errors.
std::string inputNames(const std::vector<const Node*>& inputs);

/// Returns the error with the tensor's name prepended.
Error namedError(Error error, const std::string& what);

/// Checks that data of this form fit a model input: type, rank, fixed dimensions (the first one
/// only if `checkFirst`). Convertible types fit (`typeChange`); their values are checked when read.
/// `what` names the tensor in the error ("array 'x'").
Result<void> checkForm(const DataForm& form, const Node& input, const std::string& what,
                       bool checkFirst);

struct ReadyInput
{
    at::Tensor tensor;
    std::optional<Error> notFinite; ///< for NaN or Inf: the value and its index
};

/// Prepares a tensor for `input`: converts the elements to the model's type. Rounds floating-point
/// numbers; fails if another conversion would change a value. Keeps NaN and Inf: the plan decides
/// whether the input may contain them. `firstRow`: the first row's index in the file, for errors.
/// Thread: the caller's only.
Result<ReadyInput> readyInput(const at::Tensor& tensor, const Node& input, const std::string& what,
                              std::int64_t firstRow);
/// Appends the prepared tensor, read from `file`, to the batch's inputs.
Result<void> addInput(Batch& batch, const at::Tensor& tensor, const Node& input,
                      const std::string& what, std::int64_t firstRow, const std::string& file);

/// Logs a note if `readyInput` will convert data to another floating-point type.
void noteTypeChange(DType given, const Node& input, const std::string& what);

} // namespace qs
